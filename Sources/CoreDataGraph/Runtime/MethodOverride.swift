import CoreDataRuntime

/// Which classes override `validateValue(_:forKey:)`, `value(forKey:)` or `awakeFromFetch()`. If every value
/// of every saved object were boxed only to call a method that checks the model, plain classes would lose a
/// considerable part of their time in a save, and predicates over objects a considerable part of their
/// evaluation. A fault of a plain class is loaded by a change of its flag.
struct MethodOverride {
  /// `validateValue(_:forKey:)`.
  static let ofValidation = MethodOverride(Validating.self)
  /// `value(forKey:)`.
  static let ofReading = MethodOverride(Reading.self)

  /// `awakeFromFetch()`.
  static let ofAwakening = MethodOverride(Awakening.self)

  private final class Plain: NSManagedObject {}

  private final class Validating: NSManagedObject {
    override func validateValue(_ value: inout Any?, forKey key: String) throws {
      try super.validateValue(&value, forKey: key)
    }
  }

  private final class Reading: NSManagedObject {
    override func value(forKey key: String) -> Any? { super.value(forKey: key) }
  }

  private final class Awakening: NSManagedObject {
    override func awakeFromFetch() { super.awakeFromFetch() }
  }

  let place: VTableEntry

  /// A class with only the override to look for.
  private init(_ type: NSManagedObject.Type) {
    place = VTableEntry(in: NSManagedObject.self, plain: Plain.self, overriding: type)
  }

  /// Whether a class, or one between it and `NSManagedObject`, overrides the method. True if that can't be
  /// determined.
  func isOverridden(by type: NSManagedObject.Type) -> Bool { place.isOverridden(by: type) }
}
