import CoreDataRuntime

/// Which classes override `validateValue(_:forKey:)` or `value(forKey:)`. If every value of every saved
/// object were boxed only to call a method that checks the model, plain classes would lose a considerable
/// part of their time in a save, and predicates over objects a considerable part of their evaluation.
struct MethodOverride {
  /// `validateValue(_:forKey:)`.
  static let ofValidation = MethodOverride(Validating.self)
  /// `value(forKey:)`.
  static let ofReading = MethodOverride(Reading.self)

  private final class Plain: NSManagedObject {}

  private final class Validating: NSManagedObject {
    override func validateValue(_ value: inout Any?, forKey key: String) throws {
      try super.validateValue(&value, forKey: key)
    }
  }

  private final class Reading: NSManagedObject {
    override func value(forKey key: String) -> Any? { super.value(forKey: key) }
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
