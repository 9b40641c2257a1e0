import CoreDataStorage
import Foundation

/// The reference objects of a program's store, and the keys of the same objects in the graph: one
/// sequence of keys for all entities of the store.
///
/// An entity and a reference object name one object, as in Apple's framework: the same reference under a
/// sub-entity is another one. Entries stay as long as the store is open, because objects, rows and ids
/// contain the keys.
final class ReferenceMap: Sendable {
  struct Entry {
    /// The index of the entity.
    let entity: Int
    let reference: Any
    /// nil for a reference object that is not hashable: each use of it is another object.
    let key: ReferenceKey?
  }

  private struct Name: Hashable {
    let entity: Int
    let key: ReferenceKey
  }

  private struct State {
    var keys: [Name: Int64] = [:]
    /// The entry of key 1 first.
    var entries: [Entry] = []
  }

  private let state = Guarded(State())

  /// The key of an object; a new one for a reference that was not used before.
  func key(of reference: Any, entity: Int) -> Int64 {
    let known: ReferenceKey? = ReferenceKey(reference)
    return state.withLock { state in
      if let known, let key = state.keys[Name(entity: entity, key: known)] { return key }
      state.entries.append(Entry(entity: entity, reference: reference, key: known))
      let key = Int64(state.entries.count)
      if let known { state.keys[Name(entity: entity, key: known)] = key }
      return key
    }
  }

  subscript(key: Int64) -> Entry? {
    state.withLock { state in
      key > 0 && key <= state.entries.count ? state.entries[Int(key) - 1] : nil
    }
  }

  /// The highest key in use.
  var lastKey: Int64 { state.withLock { Int64($0.entries.count) } }

  // MARK: URIs

  /// The last component of an object's URI, percent-encoded.
  func uriComponent(of key: Int64) -> String {
    guard let entry = self[key] else { return "p~o\(key)" }
    let text: String = (entry.key?.uriText(number: key)) ?? "~o\(key)"
    return "p" + (text.addingPercentEncoding(withAllowedCharacters: ObjectURI.unreserved) ?? "~o\(key)")
  }

  /// The key that a component names; nil if no URI of this store is written so.
  func key(uriComponent component: Substring, entity: Int) -> Int64? {
    guard component.first == "p", let text = component.dropFirst().removingPercentEncoding else { return nil }
    let found: Int64?
    if let number = ReferenceKey.number(uriText: text) {
      found = self[number]?.entity == entity ? number : nil
    } else {
      found = ReferenceKey.reference(uriText: text).map { key(of: $0, entity: entity) }
    }
    // Accepted only in the form that ids write.
    return found.flatMap { uriComponent(of: $0) == component ? $0 : nil }
  }
}
