import CoreDataModel
import Foundation

// Entities and relationships as Xcode's editor writes new ones.

package struct NewEntity: Sendable {
  package var name: String
  package var parent: String?
  package var isAbstract: Bool = false
  /// The name of the entity, unless given.
  package var className: String?
  /// `class`, `category`, or nil for classes by hand.
  package var codeGeneration: String? = "class"

  package init(name: String) { self.name = name }

  var element: SourceElement {
    SourceElement(
      "entity",
      [
        ("name", name), ("representedClassName", className ?? name), ("isAbstract", isAbstract ? "YES" : nil),
        ("parentEntity", parent), ("syncable", "YES"), ("codeGenerationType", codeGeneration),
      ])
  }
}

package struct NewRelationship: Sendable {
  /// What each side of a pair has.
  package struct Side: Sendable {
    package var name: String
    package var isToMany: Bool = false
    package var isOrdered: Bool = false
    package var isOptional: Bool = true
    package var minimum: Int?
    package var maximum: Int?
    package var rule: NSDeleteRule = .nullifyDeleteRule

    package init(name: String) { self.name = name }
  }

  package var destination: String
  package var side: Side
  package var inverse: Side?

  package var name: String { side.name }

  package init(_ side: Side, to destination: String, inverse: Side? = nil) {
    self.side = side
    self.destination = destination
    self.inverse = inverse
  }

  var element: SourceElement { Self.element(side, to: destination, inverse: inverse?.name) }

  /// Of the inverse, which leads to `entity`.
  func element(of inverse: Side, to entity: String) -> SourceElement {
    Self.element(inverse, to: entity, inverse: name)
  }

  private static func element(_ side: Side, to destination: String, inverse: String?) -> SourceElement {
    SourceElement(
      "relationship",
      [
        ("name", side.name), ("optional", side.isOptional ? "YES" : nil),
        ("toMany", side.isToMany ? "YES" : nil), ("minCount", side.minimum.map { "\($0)" }),
        ("maxCount", side.isToMany ? side.maximum.map { "\($0)" } : "1"),
        ("deletionRule", side.rule.editorName), ("ordered", side.isOrdered ? "YES" : nil),
        ("destinationEntity", destination), ("inverseName", inverse),
        ("inverseEntity", inverse == nil ? nil : destination),
      ])
  }
}

extension SourceElement {
  /// An element without content as the editor writes it; attributes without a value are left out.
  init(_ name: String, _ attributes: [(String, String?)]) {
    self.init(
      name: name, attributes: attributes.compactMap { key, value in value.map { SourceAttribute(key, $0) } },
      startEnd: "/>", content: [], end: "")
  }
}
