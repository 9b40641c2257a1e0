import CoreDataRuntime

/// Which classes override `validateValue(_:forKey:)` or `value(forKey:)`. Boxing every value of every saved
/// object, only to hand it to a method that does what the model says, would cost plain classes a good part of
/// their save, and a predicate over objects a good part of its evaluation.
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

  let place: MethodPlace

  /// For the method that a class overrides, and nothing else.
  private init(_ type: NSManagedObject.Type) {
    place = MethodPlace(in: NSManagedObject.self, plain: Plain.self, overriding: type)
  }

  /// Whether a class, or one between it and `NSManagedObject`, overrides the method. Where that can't be
  /// found out: yes.
  func isMade(by type: NSManagedObject.Type) -> Bool { place.isOverridden(by: type) }
}
