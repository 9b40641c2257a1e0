import CoreDataPredicates
import Foundation

/// An attribute the store computes at save from other values, such as `canonical:(name)` or `pages.@count`.
/// Read-only.
nonisolated open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  // Sendable for the reason given at NSPropertyDescription: frozen before it is shared.

  /// The expression that computes the value. Stores support `name`, `relation.name`, `canonical:(name)`,
  /// `uppercase:`, `lowercase:`, `relation.@count`, `relation.@sum.name` and `now()`.
  open var derivationExpression: CoreDataPredicates.NSExpression? { willSet { mayChange() } }

  /// Kept for compiled models, where it limits the objects that an aggregate counts.
  package final var filteringPredicate: NSPredicate? { willSet { mayChange() } }

  override func makeEmptyCopy() -> NSPropertyDescription {
    NSDerivedAttributeDescription()
  }

  override func copyContents(into other: NSPropertyDescription) {
    super.copyContents(into: other)
    guard let other = other as? NSDerivedAttributeDescription else { return }
    other.derivationExpression = derivationExpression
    other.filteringPredicate = filteringPredicate
  }
}
