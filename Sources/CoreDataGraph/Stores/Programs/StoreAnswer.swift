import CoreDataPredicates
import Foundation

/// An answer of a program's store that the graph can't use: names the class, the method, the entity and what
/// was wrong with it.
struct StoreAnswer {
  let store: NSPersistentStore
  let method: String
  let entity: String?

  init(_ store: NSPersistentStore, _ method: String, entity: String? = nil) {
    self.store = store
    self.method = method
    self.entity = entity
  }

  /// `what`: what the method returned, as the end of "… returned"; `expected`: what it should return.
  func wrong(_ what: String, expected: String) -> CocoaError {
    let message = ErrorMessage(
      "\(type(of: store)).\(method)" + (entity.map { " for entity \($0)" } ?? "") + " returned \(what).",
      advice: "It has to return \(expected).")
    return message.cocoaError(
      NSPersistentStoreOperationError, [NSAffectedStoresErrorKey: [store]])
  }

  /// An error for a method that a subclass must override, and does not.
  func missing(_ advice: String) -> CocoaError {
    let message = ErrorMessage(
      "\(type(of: store)) does not override \(method)" + (entity.map { ", which entity \($0) needs" } ?? "")
        + ".",
      advice: advice)
    return message.cocoaError(
      NSPersistentStoreUnsupportedRequestTypeError, [NSAffectedStoresErrorKey: [store]])
  }
}
