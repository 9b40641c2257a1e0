import CoreDataArchives
import CoreDataPredicates
import Foundation

/// How a migration computes one property of a destination object.
///
/// Thread use: a mapping may be changed by one thread at a time until a migration uses its mapping model;
/// from then on it is frozen and may be read from every thread.
/// Apple's page: <https://developer.apple.com/documentation/coredata/nspropertymapping>
nonisolated open class NSPropertyMapping: NSObject, @unchecked Sendable {
  // Sendable because with `isFrozen` every setter stops the program once a migration uses the model; until
  // then the mapping belongs to the code that builds it.

  final package internal(set) var isFrozen = false

  public override init() {
    super.init()
  }

  /// The name of the property in the destination entity.
  open var name: String? { willSet { mayChange() } }

  /// The expression that gives the value. It may use `$source`, `$destination`, `$manager`, `$entityMapping`,
  /// `$propertyMapping` and `$entityPolicy`. nil leaves the property at its default.
  open var valueExpression: CoreDataPredicates.NSExpression? { willSet { mayChange() } }

  /// The program's own values, such as hints for a migration policy.
  open var userInfo: [AnyHashable: Any]? { willSet { mayChange() } }

  /// Whether a number that the attribute rounds ends the migration: nobody but the inference has chosen the
  /// expression. It is in the user info, so that files keep it.
  final package var isExact: Bool { userInfo?[Self.exactKey] as? String == "YES" }

  static let exactKey: String = "clarus.exact"

  final func mayChange() {
    requireEditableMapping(isFrozen, "The mapping of property '\(name ?? "")'")
  }

  /// Mappings are equal by content.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPropertyMapping else { return false }
    return self === other
      || name == other.name && valueExpression == other.valueExpression
        && PlistValue.areEqual(userInfo ?? [:], other.userInfo ?? [:])
  }

  open override var hash: Int { name.hashValue }

  open override var description: String {
    "\(name ?? "?") ← \(valueExpression?.description ?? "default")"
  }
}

/// A mapping model freezes when a migration starts to use it.
func requireEditableMapping(_ isFrozen: Bool, _ part: @autoclosure () -> String) {
  precondition(
    !isFrozen,
    """
    Can't modify a mapping model in use. \(part()) belongs to a mapping model that a migration has begun to \
    use; change it before, or load or infer the mapping model again and change that.
    """)
}
