import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

extension PreparedMapping {
  /// The value that an expression yields. Throws what is wrong with it, with the names of the mapping, the
  /// property and the source's object.
  func evaluate(_ value: Value, _ variables: NSMutableDictionary, _ source: NSManagedObject) throws -> Any? {
    do {
      return try value.expression.expressionValueThrowing(with: source, context: variables)
    } catch let failure as MigrationFailure {
      throw failure
    } catch {
      throw MigrationFailure.value(
        mapping: name, property: value.property.name, object: "\(source.objectID)",
        reason: "\(value.expression) can't be evaluated: \(MigrationFailure.text(of: error))")
    }
  }

  /// A number that the attribute does not take would be cut off when it is stored, and a value of another
  /// type would fail when it is saved, where nothing names the mapping and the source's object.
  func requireAccepted(_ given: Any?, of value: Value, _ source: NSManagedObject) throws {
    guard let attribute = value.property as? NSAttributeDescription,
      let given = Self.widened(given, for: attribute),
      let wanted = NSManagedObject.refusal(of: given, for: attribute.attributeType)
    else { return }
    let place: String = "\(destination?.name ?? "").\(value.path)"
    let shown: String = given is NSNumber || given is any Numeric ? "\(given)" : "of type \(type(of: given))"
    throw MigrationFailure.value(
      mapping: name, property: value.path, object: "\(source.objectID)",
      reason: "Its value would be \(shown), and \(place) takes \(wanted).")
  }

  /// A number for a decimal attribute, as a decimal number: a mapping may widen a type. What is too large for
  /// one stays as it is, and is refused.
  static func widened(_ value: Any?, for attribute: NSAttributeDescription) -> Any? {
    guard attribute.attributeType == .decimalAttributeType, let number = value as? NSNumber,
      !(number is NSDecimalNumber), number.doubleValue.magnitude < 1e120, let decimal = number.exactDecimal
    else { return value }
    return NSDecimalNumber(decimal: decimal)
  }
}
