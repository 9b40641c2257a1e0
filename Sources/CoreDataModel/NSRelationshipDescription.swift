import Foundation

/// What happens to the objects at the other end when an object is deleted. The raw values are those of model
/// files.
public enum NSDeleteRule: UInt, Sendable, CaseIterable {
  case noActionDeleteRule = 0
  case nullifyDeleteRule = 1
  case cascadeDeleteRule = 2
  case denyDeleteRule = 3
}

extension NSDeleteRule {
  /// The name Xcode's editor and `.xcdatamodel` files use.
  package var editorName: String {
    switch self {
    case .noActionDeleteRule: "No Action"
    case .nullifyDeleteRule: "Nullify"
    case .cascadeDeleteRule: "Cascade"
    case .denyDeleteRule: "Deny"
    }
  }
}

/// A relationship to one or many objects of an entity.
nonisolated open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
  // Sendable for the reason given at NSPropertyDescription: frozen before it is shared.

  /// The entity at the other end. Must be set before the model is used.
  open var destinationEntity: NSEntityDescription? {
    willSet { mayChange() }
    didSet { unresolvedDestinationName = nil }
  }

  /// The relationship in the other direction; nil if there is none, which Apple advises against. Set both
  /// sides.
  open var inverseRelationship: NSRelationshipDescription? {
    willSet { mayChange() }
    didSet { unresolvedInverseName = nil }
  }

  /// The name of a destination that is in another model, kept until models are merged.
  final var unresolvedDestinationName: String?
  /// The name of an inverse that is in another model, kept until models are merged.
  final var unresolvedInverseName: String?

  /// The most objects at the other end: 1 for a to-one relationship, 0 for no limit.
  open var maxCount: Int = 0 { willSet { mayChange() } }

  /// The fewest objects at the other end, checked only where there is at least one or the relationship is
  /// required.
  open var minCount: Int = 0 { willSet { mayChange() } }

  open var deleteRule: NSDeleteRule = .nullifyDeleteRule { willSet { mayChange() } }

  /// Whether the objects of a to-many relationship keep an order. Enters the version hash.
  open var isOrdered: Bool = false { willSet { mayChange() } }

  /// Whether there may be several objects at the other end: `maxCount` is not 1.
  open var isToMany: Bool {
    maxCount != 1
  }

  override func makeEmptyCopy() -> NSPropertyDescription {
    NSRelationshipDescription()
  }

  override func copyContents(into other: NSPropertyDescription) {
    super.copyContents(into: other)
    guard let other = other as? NSRelationshipDescription else { return }
    other.destinationEntity = destinationEntity
    other.inverseRelationship = inverseRelationship
    other.unresolvedDestinationName = unresolvedDestinationName
    other.unresolvedInverseName = unresolvedInverseName
    other.maxCount = maxCount
    other.minCount = minCount
    other.deleteRule = deleteRule
    other.isOrdered = isOrdered
  }

  package final var destinationEntityName: String? {
    destinationEntity?.name ?? unresolvedDestinationName
  }

  package final var inverseRelationshipName: String? {
    inverseRelationship?.name ?? unresolvedInverseName
  }
}
