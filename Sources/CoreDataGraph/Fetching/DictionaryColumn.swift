import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A column of a fetch that returns dictionaries: its key, its expression, and the type of its values.
struct DictionaryColumn {
  let name: String
  let expression: ExpressionNode
  /// The result type of the request; undefined leaves values unchanged.
  let resultType: NSAttributeType
  /// For a plain path to an attribute.
  let attribute: NSAttributeDescription?
  /// The path of the value in nested dictionaries: for an element of a composite attribute that is fetched as
  /// a whole.
  private(set) var nesting: [String] = []
  private let kind: ColumnKind?

  init(name: String, expression: ExpressionNode, resultType: NSAttributeType, in runtime: EntityRuntime) {
    self.name = name
    self.expression = expression
    self.resultType = resultType
    (attribute, kind) = DictionaryColumn.attribute(expression, in: runtime)
  }

  private static func attribute(
    _ expression: ExpressionNode, in runtime: EntityRuntime
  ) -> (NSAttributeDescription?, ColumnKind?) {
    guard case .keyPath(let path) = expression else { return (nil, nil) }
    var entity: EntityLayout? = runtime.layout
    var found: (NSAttributeDescription?, ColumnKind?) = (nil, nil)
    var names: [String] = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    while !names.isEmpty {
      names = entity?.joinElements(names) ?? names
      guard let slot = entity?.slot(named: names.removeFirst()) else { return (nil, nil) }
      entity = slot.destination.map { runtime.model.layout.entities[$0] }
      if case .stored(let kind, _) = slot.role { found = (slot.attribute, kind) }
    }
    return found
  }

  /// A property to fetch or to group by: a name, a key path or a description. A composite attribute has one
  /// column for each element.
  static func make(_ property: Any, in runtime: EntityRuntime, of list: String) throws -> [DictionaryColumn] {
    let name: String? = property as? String ?? (property as? NSCompositeAttributeDescription)?.name
    if let name, let slot = runtime.layout.slotByName[name], runtime.compactSlots[slot].role == .composite {
      return runtime.layout.storedSlots(of: slot).map { element(of: $0, in: runtime) }
    }
    return [try makeOne(property, in: runtime, of: list)]
  }

  /// The column of a stored slot; the value of an element becomes part of its attribute's dictionary.
  static func element(of slot: Int, in runtime: EntityRuntime) -> DictionaryColumn {
    let described: PropertySlot = runtime.layout.slots[slot]
    var column = DictionaryColumn(
      name: described.name, expression: .keyPath(described.name), resultType: .undefinedAttributeType,
      in: runtime)
    if described.isElement { column.nesting = described.name.split(separator: ".").map(String.init) }
    return column
  }

  private static func makeOne(_ property: Any, in runtime: EntityRuntime, of list: String) throws
    -> DictionaryColumn
  {
    switch property {
    case let name as String:
      return DictionaryColumn(
        name: name, expression: path(name, in: runtime), resultType: .undefinedAttributeType, in: runtime)
    case let description as NSExpressionDescription:
      if description.name.isEmpty {
        throw GraphError.unsupported(
          "An expression description without a name in \(list)",
          advice: "Set its name: the dictionaries have the value under it.")
      }
      try description.expression?.checkEvaluationAllowed()
      return DictionaryColumn(
        name: description.name, expression: description.expression?.expressionNode() ?? .evaluatedObject,
        resultType: description.expressionResultType, in: runtime)
    case let description as NSPropertyDescription:
      return DictionaryColumn(
        name: description.name, expression: .keyPath(description.name),
        resultType: .undefinedAttributeType, in: runtime)
    default:
      throw GraphError.unsupported(
        "\(type(of: property)) in \(list)", advice: "Use property names, key paths or descriptions.")
    }
  }

  /// Stores read `objectID` and `self` as the object, unless they are properties.
  static func path(_ path: String, in runtime: EntityRuntime) -> ExpressionNode {
    let isObject: Bool = path == "objectID" || path.lowercased() == "self"
    return isObject && runtime.layout.slotByName[path] == nil ? .evaluatedObject : .keyPath(path)
  }

  // MARK: Values

  /// A value as dictionaries hold it: numbers as `NSNumber`, objects as their ids; nil is left out.
  ///
  /// `isStored` is true if the value of a transformable attribute is the bytes of its transformer.
  func value(_ value: PredicateValue, object: (ObjectBox) -> Any?, isStored: Bool) throws -> Any? {
    if value.isNull { return nil }
    if isStored, kind == .transformable, case .data(let data) = value {
      return try Transformation.object(from: data, attribute: attribute)
    }
    if case .object(let box) = value { return object(box) }
    if resultType != .undefinedAttributeType { return try converted(value) }
    return natural(value)
  }

  private func natural(_ value: PredicateValue) -> Any? {
    switch value {
    case .integer(let integer): return SlotValue.integer(integer).attributeValue(kind: kind ?? .int64)
    case .double(let double) where kind == .float: return NSNumber(value: Float(double))
    default: return value.objectValue
    }
  }

  /// The value converted to the description's result type: numbers to each other, to text and to dates; text
  /// to the number it spells.
  private func converted(_ value: PredicateValue) throws -> Any? {
    switch resultType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      let number: PredicateValue = try cast(value, "NSNumber")
      if let integer = NumberComparison.integer(number) { return NSNumber(value: integer) }
      guard let double = NumberComparison.double(number),
        let integer = Int64(exactly: double.rounded(.towardZero))
      else { throw mismatch(value) }
      return NSNumber(value: integer)
    case .doubleAttributeType, .floatAttributeType, .booleanAttributeType:
      guard let double = NumberComparison.double(try cast(value, "NSNumber")) else { throw mismatch(value) }
      switch resultType {
      case .doubleAttributeType: return NSNumber(value: double)
      case .floatAttributeType: return NSNumber(value: Float(double))
      default: return NSNumber(value: double != 0)
      }
    case .decimalAttributeType:
      guard case .decimal(let decimal) = try cast(value, "NSDecimalNumber") else { throw mismatch(value) }
      return NSDecimalNumber(decimal: decimal)
    case .stringAttributeType:
      if case .url(let url) = value { return url.absoluteString }
      if case .uuid(let uuid) = value { return uuid.uuidString }
      return try cast(value, "NSString").anyValue
    case .dateAttributeType: return try cast(value, "NSDate").anyValue
    default: return natural(value)
    }
  }

  private func cast(_ value: PredicateValue, _ type: String) throws -> PredicateValue {
    do {
      let result: PredicateValue = try BuiltinFunction.cast.call([value, .string(type)])
      if result.isNull { throw mismatch(value) }
      return result
    } catch is CoreDataPredicates.PredicateError {
      throw mismatch(value)
    }
  }

  private func mismatch(_ value: PredicateValue) -> GraphError {
    .unsupported(
      "\(value.kindName) in the column '\(name)', whose result type is \(resultType),",
      advice: "Set expressionResultType to what the expression gives, or leave it undefined.")
  }
}
