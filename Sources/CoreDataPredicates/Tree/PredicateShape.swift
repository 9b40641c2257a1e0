import Foundation

/// A predicate without the values of its parameters: the key of caches whose entries are made from
/// predicates.
///
///     price > 3 AND name == "a"        AND  (price >  ▢ integer)  (name ==  ▢ text)        parameters 3, "a"
///     price > 4 AND name == "b"        the same bytes                                      parameters 4, "b"
///     price > 4.5 AND name == "b"      others: a real is no integer
///     price + 1 > 3                    price + 1 > ▢ integer: 1 is in the bytes
///
/// A parameter is a constant, or a list of constants, that is one side of a comparison whose other side reads
/// the row. The bytes contain its kind, and for a list the number of its members, rounded up to a power of
/// two. Every other constant is in the bytes by value.
///
/// Predicates without a shape are those whose meaning the bytes can't represent: code of the program, objects
/// outside of parameters, functions of constants only (`now()`), long or mixed lists, and trees of many
/// levels. They are rare and are not cached.
package struct PredicateShape: Sendable {
  package let key: ShapeKey
  /// In the order from left to right. The members of a set are in an array, so that each can be read by its
  /// position.
  package let parameters: [PredicateValue]

  package init?(_ predicate: PredicateNode) {
    var writer = ShapeWriter()
    do throws(WithoutShape) {
      try writer.write(predicate, level: 0)
    } catch {
      return nil
    }
    key = ShapeKey(writer.bytes)
    parameters = writer.parameters
  }

  /// A shape whose key is known.
  init(_ key: ShapeKey, _ parameters: [PredicateValue]) {
    self.key = key
    self.parameters = parameters
  }
}

/// The bytes of a shape. Equal bytes mean equal shapes.
package struct ShapeKey: Hashable, Sendable {
  package let bytes: [UInt8]
  /// Computed once: a fetch looks its key up in several caches.
  package let hashOfBytes: Int

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var hasher = Hasher()
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    hashOfBytes = hasher.finalize()
  }

  package static func == (left: ShapeKey, right: ShapeKey) -> Bool {
    left.hashOfBytes == right.hashOfBytes && left.bytes == right.bytes
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(hashOfBytes) }
}

extension ComparisonNode {
  /// The side that is a parameter of the predicate's shape; nil if there is none.
  package struct Parameter {
    package var isLeft: Bool
    package var value: PredicateValue
  }

  package var parameter: Parameter? {
    guard comparison != .customSelector, block == nil else { return nil }
    if let value = right.parameterValue {
      return left.readsRow ? Parameter(isLeft: false, value: value) : nil
    }
    // With a quantifier, a list on the left side is evaluated member by member.
    guard modifier == .direct, let value = left.parameterValue, right.readsRow else { return nil }
    return Parameter(isLeft: true, value: value)
  }
}

extension PredicateNode {
  /// The predicate with the comparisons that have a parameter replaced, in the order of
  /// the shape's parameters.
  package func mapParameters(_ replace: (ComparisonNode, ComparisonNode.Parameter) -> ComparisonNode)
    -> PredicateNode
  {
    switch self {
    case .constant, .block: return self
    case .compound(let kind, let members): return .compound(kind, members.map { $0.mapParameters(replace) })
    case .comparison(var node):
      let parameter: ComparisonNode.Parameter? = node.parameter
      if parameter?.isLeft != true { node.left = node.left.mapParameters(replace) }
      if parameter?.isLeft != false { node.right = node.right.mapParameters(replace) }
      return .comparison(parameter.map { replace(node, $0) } ?? node)
    }
  }
}

extension ExpressionNode {
  fileprivate func mapParameters(
    _ replace: (ComparisonNode, ComparisonNode.Parameter) -> ComparisonNode
  ) -> ExpressionNode {
    mapChildren({ $0.mapParameters(replace) }, predicate: { $0.mapParameters(replace) })
  }

  /// The value of a constant, or of a list of constants (`{a, b}`), that may be a parameter.
  fileprivate var parameterValue: PredicateValue? {
    switch self {
    case .constant(let value): return value.shapeKind == nil ? nil : value
    case .aggregate(let members):
      var values: [PredicateValue] = []
      for member in members {
        guard case .constant(let value) = member else { return nil }
        values.append(value)
      }
      let list: PredicateValue = .array(values)
      return list.shapeKind == nil ? nil : list
    default: return nil
    }
  }

  fileprivate var readsRow: Bool {
    switch self {
    case .keyPath, .evaluatedObject, .variable: return true
    case .constant: return false
    default:
      var result: Bool = false
      forEachChild({ result = result || $0.readsRow }, predicate: { _ in result = true })
      return result
    }
  }
}

/// The description of a parameter in the bytes.
struct ShapeKind: Equatable, Sendable {
  var kind: UInt8
  /// For a list: the power of two that its members are padded to; 0 for a single value.
  var length: UInt8 = 0

  static let longestList: Int = 1024
}

extension PredicateValue {
  /// Distinguishes the cases, and nothing else. nil for a value that can't be a parameter: nil changes the
  /// meaning of a comparison, and dictionaries are compared as a whole.
  private var caseNumber: UInt8? {
    switch self {
    case .bool: 1
    case .integer: 2
    case .unsigned: 3
    case .double: 4
    case .decimal: 5
    case .string: 6
    case .date: 7
    case .data: 8
    case .uuid: 9
    case .url: 10
    case .object: 11
    case .null, .nullObject, .array, .set, .dictionary: nil
    }
  }

  /// nil for a value that can't be a parameter.
  var shapeKind: ShapeKind? {
    switch self {
    case .array(let members): PredicateValue.listKind(members)
    case .set(let members): PredicateValue.listKind(members)
    default: caseNumber.map { ShapeKind(kind: $0) }
    }
  }

  /// nil for an empty or mixed list.
  private static func listKind(_ members: some Collection<PredicateValue>) -> ShapeKind? {
    guard let kind = members.first?.caseNumber, members.count <= ShapeKind.longestList,
      members.allSatisfy({ $0.caseNumber == kind })
    else { return nil }
    var (length, size): (UInt8, Int) = (1, 1)
    while size < members.count { (length, size) = (length + 1, size * 2) }
    return ShapeKind(kind: kind, length: length)
  }

  /// Bytes that distinguish the value from every other one; nil for a value that has none.
  package var shapeBytes: [UInt8]? {
    var writer = ShapeWriter()
    do throws(WithoutShape) {
      try writer.write(self)
    } catch {
      return nil
    }
    return writer.bytes
  }
}

private struct WithoutShape: Error {}

/// Every part begins with a number of its own, and every text with its length, so no two trees have the same
/// bytes.
private struct ShapeWriter {
  private(set) var bytes: [UInt8] = []
  private(set) var parameters: [PredicateValue] = []

  /// Predicates with more levels have no shape.
  private static let levels: Int = 16

  init() { bytes.reserveCapacity(64) }

  // MARK: Predicates

  mutating func write(_ predicate: PredicateNode, level: Int) throws(WithoutShape) {
    if level > Self.levels { throw WithoutShape() }
    switch predicate {
    case .constant(let value): bytes.append(value ? 1 : 2)
    case .compound(let kind, let members):
      bytes.append(3)
      bytes.append(UInt8(kind.rawValue))
      write(members.count)
      for member in members { try write(member, level: level + 1) }
    case .comparison(let node): try write(node, level: level)
    case .block: throw WithoutShape()
    }
  }

  private mutating func write(_ node: ComparisonNode, level: Int) throws(WithoutShape) {
    if node.comparison == .customSelector || node.block != nil { throw WithoutShape() }
    let parameter: ComparisonNode.Parameter? = node.parameter
    bytes.append(parameter == nil ? 4 : parameter?.isLeft == true ? 5 : 6)
    bytes.append(UInt8(node.modifier.rawValue))
    write(Int(node.comparison.rawValue))
    bytes.append(UInt8(truncatingIfNeeded: node.options.rawValue))
    if parameter?.isLeft != true { try write(node.left, level: level + 1) }
    if parameter?.isLeft != false { try write(node.right, level: level + 1) }
    guard let parameter, let kind = parameter.value.shapeKind else { return }
    if case .set(let members) = parameter.value {
      bytes.append(1)
      parameters.append(.array(Array(members)))
    } else {
      bytes.append(0)
      parameters.append(parameter.value)
    }
    bytes.append(kind.kind)
    bytes.append(kind.length)
  }

  // MARK: Expressions

  private mutating func write(_ expression: ExpressionNode, level: Int) throws(WithoutShape) {
    if level > Self.levels { throw WithoutShape() }
    switch expression {
    case .keyPath(let path):
      bytes.append(20)
      write(path)
    case .evaluatedObject: bytes.append(21)
    case .variable(let name):
      bytes.append(22)
      write(name)
    case .constant(let value):
      bytes.append(23)
      try write(value)
    case .path(let target, let path):
      bytes.append(24)
      try write(target, level: level + 1)
      write(path)
    case .index(let target, let index):
      bytes.append(25)
      try write(target, level: level + 1)
      try write(index, level: level + 1)
    case .function(target: nil, let name, let arguments):
      // With constants alone it would be called once, and some functions return something else each time.
      guard arguments.contains(where: \.readsRow) else { throw WithoutShape() }
      bytes.append(26)
      write(name)
      try write(arguments, level: level)
    case .aggregate(let members):
      bytes.append(27)
      try write(members, level: level)
    case .subquery(let collection, let variable, let predicate):
      bytes.append(28)
      try write(collection, level: level + 1)
      write(variable)
      try write(predicate, level: level + 1)
    case .conditional(let test, let then, let otherwise):
      bytes.append(29)
      try write(test, level: level + 1)
      try write(then, level: level + 1)
      try write(otherwise, level: level + 1)
    case .set(let operation, let left, let right):
      bytes.append(30)
      write(operation.rawValue)
      try write(left, level: level + 1)
      try write(right, level: level + 1)
    case .function, .dynamicPath, .assignment, .fetch, .anyKey, .block: throw WithoutShape()
    }
  }

  private mutating func write(_ expressions: [ExpressionNode], level: Int) throws(WithoutShape) {
    write(expressions.count)
    for expression in expressions { try write(expression, level: level + 1) }
  }

  private mutating func write(_ index: IndexNode, level: Int) throws(WithoutShape) {
    switch index {
    case .first: bytes.append(1)
    case .last: bytes.append(2)
    case .size: bytes.append(3)
    case .at(let expression):
      bytes.append(4)
      try write(expression, level: level)
    }
  }

  // MARK: Values

  mutating func write(_ value: PredicateValue) throws(WithoutShape) {
    switch value {
    case .null: bytes.append(40)
    case .nullObject: bytes.append(41)
    case .bool(let flag): bytes.append(flag ? 42 : 43)
    case .integer(let number):
      bytes.append(44)
      write(number)
    case .unsigned(let number):
      bytes.append(45)
      write(Int64(bitPattern: number))
    case .double(let number):
      bytes.append(46)
      write(Int64(bitPattern: number.bitPattern))
    case .decimal(let number):
      bytes.append(47)
      write(number.description)
    case .string(let text):
      bytes.append(48)
      write(text)
    case .date(let date):
      bytes.append(49)
      write(Int64(bitPattern: date.timeIntervalSinceReferenceDate.bitPattern))
    case .data(let data):
      bytes.append(50)
      write(data.count)
      bytes.append(contentsOf: data)
    case .uuid(let uuid):
      bytes.append(51)
      withUnsafeBytes(of: uuid.uuid) { bytes.append(contentsOf: $0) }
    case .url(let url):
      bytes.append(52)
      write(url.relativeString)
      write(url.baseURL?.absoluteString ?? "")
    case .array(let members):
      bytes.append(53)
      try write(members)
    case .set(let members):
      bytes.append(54)
      try write(Array(members))
    case .dictionary, .object: throw WithoutShape()
    }
  }

  private mutating func write(_ members: [PredicateValue]) throws(WithoutShape) {
    if members.count > ShapeKind.longestList { throw WithoutShape() }
    write(members.count)
    for member in members { try write(member) }
  }

  private mutating func write(_ text: String) {
    var text: String = text
    text.withUTF8 {
      write($0.count)
      bytes.append(contentsOf: $0)
    }
  }

  /// Lengths and numbers of cases: one byte if that suffices.
  private mutating func write(_ count: Int) {
    if count < 255 {
      bytes.append(UInt8(count))
    } else {
      bytes.append(255)
      write(Int64(count))
    }
  }

  private mutating func write(_ number: Int64) {
    withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
  }
}
