import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Errors of a save, with the objects concerned.
enum SaveErrors {
  /// An error of a store, with the objects concerned. Errors that are no `StoreError` stay unchanged.
  static func error(
    for error: any Error, store: NSPersistentStore, context: NSManagedObjectContext
  ) -> any Error {
    guard let error = error as? StoreError else { return error }
    var info: [String: Any] = [NSAffectedStoresErrorKey: [store]]
    let made: CocoaError = GraphError.store(error, store.url).asCocoaError
    if case .conflicts(let conflicts) = error {
      let entities: [EntityLayout] = store.runtime.layout.entities
      info[NSAffectedObjectsErrorKey] = conflicts.compactMap { conflict in
        context.identityMap.object(
          store: store.ordinal, root: entities[Int(conflict.id.entity)].rootIndex, key: conflict.id.key)
      }
      let message: ErrorMessage = error.message(url: store.url) {
        "\(entities[Int($0.entity)].name)/p\($0.key)"
      }
      info.merge(message.userInfo) { _, new in new }
    }
    return CocoaError(made.code, userInfo: made.userInfo.merging(info) { _, new in new })
  }

  /// The error of a store after others have already saved their part.
  static func incomplete(_ error: any Error, store: NSPersistentStore) -> CocoaError {
    let error = error as NSError
    let message = ErrorMessage(
      "Some of the stores were saved, \(store.url?.path ?? store.uuid) was not: \(error.localizedDescription)",
      advice: error.localizedRecoverySuggestion)
    var info: [String: Any] = error.userInfo.merging(message.userInfo) { _, new in new }
    info[NSAffectedStoresErrorKey] = [store]
    info[NSUnderlyingErrorKey] = error
    return CocoaError(CocoaError.Code(rawValue: NSPersistentStoreIncompleteSaveError), userInfo: info)
  }
}
