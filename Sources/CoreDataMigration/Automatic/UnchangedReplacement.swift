import CoreDataGraph
import CoreDataStorage
import Foundation

/// The replacement of a store by one that is made of it, which fails if others have saved to it meanwhile:
/// what they saved is in no copy (Decisions/0125).
struct UnchangedReplacement {
  private let place: StorePlace
  private let replacement: any StoreReplacement
  private let failure: (URL, String) -> MigrationFailure

  /// Must be called before anything is read that goes into the new store.
  init(of place: StorePlace, failure: @escaping (URL, String) -> MigrationFailure) throws {
    guard let kind = StoreRegistry.fileKind(ofType: place.type) else {
      throw MigrationFailure.programStore(place.url, type: place.type)
    }
    (self.place, self.failure) = (place, failure)
    replacement = try kind.beginReplacement(
      at: place.url, options: StoreOpeningOptions(apple: place.options))
  }

  /// Of the source of a migration.
  init(of store: OutdatedStore) throws {
    try self.init(of: StorePlace(store.url, store.type, store.options), failure: MigrationFailure.sourceStore)
  }

  /// Puts the new store, which has the UUID of the old one, in its place.
  func complete(with made: URL) throws {
    do {
      try replacement.complete(with: made)
    } catch StoreError.savedByOthers, StoreError.fileChanged {
      throw savedMeanwhile
    }
  }

  /// Runs `body`. Of an error that it throws the cause is another process, if one has saved meanwhile; what
  /// was read then may be of two states.
  func explainingErrors(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      let code: Int? = error.ofCocoa?.code.rawValue
      if code == NSMigrationCancelledError || code == CocoaError.Code.fileWriteOutOfSpace.rawValue {
        throw error
      }
      do {
        try replacement.requireUnchanged()
      } catch StoreError.savedByOthers, StoreError.fileChanged {
        throw savedMeanwhile
      } catch {}
      throw error
    }
  }

  private var savedMeanwhile: MigrationFailure {
    failure(
      place.url,
      "Another process has saved to it meanwhile. It is as that process left it; end the process, and migrate again."
    )
  }

  /// Must be called, when nothing of the migration has the store open.
  func end() { replacement.end() }
}
