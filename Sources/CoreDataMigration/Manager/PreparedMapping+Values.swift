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
      let given = Self.widened(given, for: attribute)
    else { return }
    if value.mapping.isExact, let stored = Self.cutOff(given, by: attribute) {
      throw MigrationFailure.value(
        mapping: nil, property: "\(destination?.name ?? "").\(value.path)", object: "\(source.objectID)",
        reason:
          "Its value would be \(given), of which the type \(attribute.attributeType.editorName) would keep "
          + "\(stored).")
    }
    guard let wanted = NSManagedObject.refusal(of: given, for: attribute.attributeType)
    else { return }
    let place: String = "\(destination?.name ?? "").\(value.path)"
    let shown: String = given is NSNumber || given is any Numeric ? "\(given)" : "of type \(type(of: given))"
    throw MigrationFailure.value(
      mapping: name, property: value.path, object: "\(source.objectID)",
      reason: "Its value would be \(shown), and \(place) takes \(wanted).")
  }

  /// What is stored of a number that the attribute cuts off: integers of those with a fraction, yes or no of
  /// other numbers than 1 and 0, the nearest number of those with more digits than a Double or a Float has.
  /// nil if the value stays as it is. A decimal number such as 19.99 does, though no Double is equal to it:
  /// it reads the same.
  static func cutOff(_ value: Any?, by attribute: NSAttributeDescription) -> String? {
    let found = PredicateValue(normalizing: value)
    switch attribute.attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      switch found {
      case .double(let number) where number != number.rounded(): return whole(number)
      case .decimal(let number) where number != number.rounded:
        return whole(NSDecimalNumber(decimal: number).doubleValue)
      default: return nil
      }
    case .booleanAttributeType:
      let isOrdinary: Bool =
        switch found {
        case .integer(let number): number == 0 || number == 1
        case .double(let number): number == 0 || number == 1
        case .decimal(let number): number == 0 || number == 1
        case .unsigned: false
        default: true
        }
      return isOrdinary ? nil : "yes"
    case .doubleAttributeType: return nearest(found, Double.self)
    case .floatAttributeType: return nearest(found, Float.self)
    default: return nil
    }
  }

  private static func nearest<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    _ value: PredicateValue, _ type: Number.Type
  ) -> String? {
    switch value {
    case .integer(let number): Number(exactly: number) == nil ? shown(Number(number)) : nil
    case .unsigned(let number): Number(exactly: number) == nil ? shown(Number(number)) : nil
    case .double(let number):
      // A value that is too large is refused, not rounded.
      Number(exactly: number) == nil && number.isFinite && "\(Number(number))" != "\(number)"
        ? shown(Number(number)) : nil
    case .decimal(let number):
      Number("\(number)").flatMap { nearest in
        Decimal(string: "\(nearest)") == number ? nil : shown(nearest)
      }
    default: nil
    }
  }

  private static func whole(_ number: Double) -> String { shown(number.rounded(.towardZero)) }

  private static func shown<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ number: Number)
    -> String
  {
    Int64(exactly: number).map { "\($0)" } ?? "\(number)"
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

extension Decimal {
  fileprivate var rounded: Decimal {
    var (own, result) = (self, Decimal())
    NSDecimalRound(&result, &own, 0, .plain)
    return result
  }
}
