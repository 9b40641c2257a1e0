import CoreDataArchives
import Foundation

/// One thing in which an entity or a property of a model differs from that of another version.
public struct ModelChange: Sendable, Hashable {
  /// What has changed, with the values of the source and of the destination where a program may want them.
  public enum Kind: Sendable, Hashable {
    case added
    case removed
    case renamed(from: String, to: String)

    case abstract(from: Bool, to: Bool)
    case parent(from: String?, to: String?)
    case constraints(from: [[String]], to: [[String]])
    case indexes(from: [String], to: [String])
    case className(from: String, to: String)
    case hashModifier(from: String?, to: String?)

    /// A property is declared by another entity: it has moved along the hierarchy.
    case declaringEntity(from: String, to: String)
    /// An attribute became a relationship or the like.
    case kindOfProperty(from: String, to: String)
    case type(from: NSAttributeType, to: NSAttributeType)
    case optional(from: Bool, to: Bool)
    case transient(from: Bool, to: Bool)
    case defaultValue
    case externalStorage(from: Bool, to: Bool)
    case keptInHistory(from: Bool, to: Bool)
    case derivation(from: String?, to: String?)
    /// An element of a composite attribute; its path and what has changed.
    indirect case element(path: String, Kind)
    case elementOrder(from: [String], to: [String])
    case valueClass(from: String?, to: String?)
    case transformer(from: String?, to: String?)
    case validation

    case toMany(from: Bool, to: Bool)
    case ordered(from: Bool, to: Bool)
    /// The entity at the other end. `isRenaming` if the destination is the same entity under a new name.
    case destination(from: String?, to: String?, isRenaming: Bool)
    case inverse(from: String?, to: String?, isRenaming: Bool)
    case count(from: ClosedRange<Int>, to: ClosedRange<Int>)
    case deleteRule(from: NSDeleteRule, to: NSDeleteRule)
    case fetchRequest
    case userInfo
  }

  public let kind: Kind

  /// The entity (`Item`) or property (`Item.title`), by its name in the destination, or in the source if it
  /// is only there.
  public let subject: String

  /// The state in the source in words, such as `Integer 16`; nil where there is none.
  public let before: String?

  /// The state in the destination in words, such as `Integer 32`; nil where there is none.
  public let after: String?

  /// Whether the change makes stores of the source unfit for the destination: it enters the version hash.
  public let changesVersionHash: Bool

  /// One sentence without a full stop: `Item.priority is Integer 16 in the source, Integer 32 in the
  /// destination`.
  public var sentence: String { sentence(source: "the source", destination: "the destination") }

  /// The sentence with other words for both sides, such as `the store` and `the model`.
  package func sentence(source: String, destination: String) -> String {
    switch (before, after) {
    case (let before?, let after?): "\(subject) is \(before) in \(source), \(after) in \(destination)"
    case (nil, _): "\(subject) is only in \(destination)"
    case (_, nil): "\(subject) is only in \(source)"
    }
  }
}

extension ModelChange.Kind {
  /// The name of the case, for machines: `type`, `optional`. That of an element is the name of its change.
  public var name: String {
    if case .element(_, let kind) = self { return kind.name }
    return String("\(self)".prefix { $0 != "(" })
  }
}

extension ModelChange: CustomStringConvertible {
  public var description: String { sentence }
}

/// Collects the changes of one entity or property.
struct ChangeList {
  let subject: String
  private(set) var changes: [ModelChange] = []

  init(_ subject: String) {
    self.subject = subject
  }

  mutating func add(_ kind: ModelChange.Kind, _ before: String?, _ after: String?, isHashed: Bool) {
    changes.append(
      ModelChange(
        kind: kind, subject: subject, before: before, after: after, changesVersionHash: isHashed))
  }

  mutating func append(_ change: ModelChange) {
    changes.append(change)
  }

  /// Adds a change if both sides differ; its words name the entries that do.
  mutating func compareUserInfo(_ before: [AnyHashable: Any]?, _ after: [AnyHashable: Any]?) {
    let (old, new) = (before ?? [:], after ?? [:])
    let keys: [AnyHashable] = Set(old.keys).union(new.keys)
      .filter { !PlistValue.areEqual(old[$0], new[$0]) }.sorted { "\($0)" < "\($1)" }
    if keys.isEmpty { return }
    func words(_ info: [AnyHashable: Any]) -> String {
      let entries: [String] = keys.map { key in info[key].map { "'\(key)' = '\($0)'" } ?? "no '\(key)'" }
      return "of the user info \(entries.joined(separator: ", "))"
    }
    add(.userInfo, words(old), words(new), isHashed: false)
  }

  /// Adds a change if both sides differ.
  mutating func compare<Value: Equatable>(
    _ before: Value, _ after: Value, isHashed: Bool, _ kind: (Value, Value) -> ModelChange.Kind,
    _ words: (Value) -> String
  ) {
    if before != after { add(kind(before, after), words(before), words(after), isHashed: isHashed) }
  }
}
