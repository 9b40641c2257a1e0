import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Errors of a save, with the objects concerned.
enum SaveErrors {
  static func error(
    for error: StoreError, store: NSPersistentStore, context: NSManagedObjectContext, partly: Bool
  ) -> any Error {
    var info: [String: Any] = [NSAffectedStoresErrorKey: [store]]
    var made: CocoaError = GraphError.store(error, store.url).asCocoaError
    if case .conflicts(let conflicts) = error {
      let entities: [EntityLayout] = store.runtime.layout.entities
      info[NSAffectedObjectsErrorKey] = conflicts.compactMap { conflict in
        context.registry.object(
          store: store.ordinal, root: entities[Int(conflict.id.entity)].rootIndex, key: conflict.id.key)
      }
      let message: ErrorMessage = error.message(url: store.url) {
        "\(entities[Int($0.entity)].name)/p\($0.key)"
      }
      info.merge(message.userInfo) { _, new in new }
    }
    made = CocoaError(made.code, userInfo: made.userInfo.merging(info) { _, new in new })
    guard partly else { return made }
    info[NSUnderlyingErrorKey] = made as NSError
    return ErrorMessage(
      "Some of the stores were saved, \(store.url?.path ?? store.identifier) was not: \(made.localizedDescription)",
      advice: (made as NSError).localizedRecoverySuggestion
    ).cocoaError(NSPersistentStoreIncompleteSaveError, info)
  }
}
