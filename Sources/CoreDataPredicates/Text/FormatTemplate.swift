import Foundation

/// The position of an argument in a tree.
struct ArgumentMark: Sendable {
  let box: ObjectBox
  /// Its number among the arguments.
  let number: Int
  let specifier: Specifier
}

/// A parsed format with marks in the places of its arguments.
///
///     format        number == %lld AND state == 2
///     node          number == ▢0 AND state == 2
///     shape, of arguments of the kinds that the first ones had:
///     key           the bytes of (number ==  ▢ integer) AND (state ==  ▢ integer)
///     parameters    ▢0, 2
final class FormatTemplate: Sendable {
  // Sendable: immutable.

  private let node: PredicateNode
  private let marks: [ArgumentMark]
  private let keyPaths: [(number: Int, path: String)]
  private let shape: TemplateShape?

  /// nil for formats that are no predicate with these arguments, that contain predicates or expressions as
  /// arguments, or that nest deeply.
  init?(_ format: String, _ arguments: [Any?]) {
    guard let (node, marks, keyPaths) = Parser.template(format, arguments),
      node.depth <= StackGuard.shallow
    else { return nil }
    self.node = node
    self.marks = marks
    self.keyPaths = keyPaths
    shape = Self.values(arguments, marks).flatMap {
      TemplateShape(node, marks, $0, Self.fill(node, marks, $0))
    }
  }

  /// nil if the arguments require parsing: too few, of other kinds, another key path, a predicate.
  func filled(_ arguments: [Any?]) -> ParsedFormat? {
    for (number, path) in keyPaths {
      guard number < arguments.count,
        case .string(let given) = PredicateValue(normalizing: arguments[number]),
        StringMatching.literallyEqual(given, path)
      else {
        return nil
      }
    }
    guard let values = Self.values(arguments, marks) else { return nil }
    return ParsedFormat(
      node: values.isEmpty ? node : Self.fill(node, marks, values), shape: shape?.shape(of: values),
      mayContainTrees: false)
  }

  private static func values(_ arguments: [Any?], _ marks: [ArgumentMark]) -> [PredicateValue]? {
    var values: [PredicateValue] = []
    values.reserveCapacity(marks.count)
    for mark in marks {
      guard mark.number < arguments.count, let value = Self.value(arguments[mark.number], mark.specifier)
      else {
        return nil
      }
      values.append(value)
    }
    return values
  }

  private static func value(_ argument: Any?, _ specifier: Specifier) -> PredicateValue? {
    if let argument, let plain = PredicateValue.plain(argument) {
      return specifier == .object ? plain : Parser.fitted(plain, specifier)
    }
    let argument: Any? = Parser.unwrapped(argument)
    if specifier != .object { return Parser.number(argument, specifier) }
    return isTree(argument) ? nil : PredicateValue(constant: argument)
  }

  /// Whether an argument, not wrapped in an optional, becomes a part of the tree.
  static func isTree(_ argument: Any?) -> Bool {
    guard object(argument, as: NSObject.self) != nil else { return false }
    return object(argument, as: Foundation.NSPredicate.self) != nil
      || object(argument, as: NSExpression.self) != nil
  }

  private static func fill(
    _ node: PredicateNode, _ marks: [ArgumentMark], _ values: [PredicateValue]
  ) -> PredicateNode {
    switch node {
    case .constant, .block: return node
    case .comparison(var comparison):
      comparison.left = fill(comparison.left, marks, values)
      comparison.right = fill(comparison.right, marks, values)
      return .comparison(comparison)
    case .compound(let kind, let members):
      return .compound(kind, members.map { fill($0, marks, values) })
    }
  }

  private static func fill(
    _ node: ExpressionNode, _ marks: [ArgumentMark], _ values: [PredicateValue]
  ) -> ExpressionNode {
    switch node {
    case .keyPath, .evaluatedObject, .variable: return node
    case .constant(.object(let box)):
      guard let place = marks.firstIndex(where: { $0.box === box }) else { return node }
      return .constant(values[place])
    case .constant: return node
    default:
      return node.mapChildren({ fill($0, marks, values) }, predicate: { fill($0, marks, values) })
    }
  }
}

/// The shape that a format's predicates have if their arguments are of certain kinds.
private struct TemplateShape: Sendable {
  private let key: ShapeKey
  /// One for each argument.
  private let kinds: [ShapeKind]
  private let parameters: [Source]
  /// Whether the parameters are the arguments, in their order.
  private let isPlain: Bool

  private enum Source: Sendable {
    case argument(Int)
    /// A constant of the format.
    case constant(PredicateValue)
  }

  /// nil if an argument is not, by itself, a parameter of the shape: its value is then in the bytes.
  ///
  /// - Parameters:
  ///   - node: The predicate with marks.
  ///   - filled: The predicate with the values in their places.
  init?(
    _ node: PredicateNode, _ marks: [ArgumentMark], _ values: [PredicateValue], _ filled: PredicateNode
  ) {
    // A mark is an object, which is a parameter wherever a value of another kind is one.
    guard let marked = PredicateShape(node), let shape = PredicateShape(filled) else { return nil }
    let kinds: [ShapeKind] = values.compactMap(\.templateKind)
    let parameters: [Source] = marked.parameters.map { parameter in
      guard case .object(let box) = parameter, let place = marks.firstIndex(where: { $0.box === box }) else {
        return .constant(parameter)
      }
      return .argument(place)
    }
    let found: [Int] = parameters.compactMap { if case .argument(let place) = $0 { place } else { nil } }
    guard kinds.count == marks.count, found.sorted() == Array(marks.indices) else { return nil }
    key = shape.key
    self.kinds = kinds
    self.parameters = parameters
    isPlain = found.count == parameters.count && found == Array(marks.indices)
  }

  /// nil for values of other kinds.
  func shape(of values: [PredicateValue]) -> PredicateShape? {
    for place in values.indices where values[place].templateKind != kinds[place] { return nil }
    if isPlain { return PredicateShape(key, values) }
    return PredicateShape(
      key,
      parameters.map { source in
        switch source {
        case .argument(let place): values[place]
        case .constant(let value): value
        }
      })
  }
}

extension PredicateValue {
  /// The kind of a parameter; nil for a set too, whose members become an array in the shape.
  fileprivate var templateKind: ShapeKind? {
    if case .set = self { return nil }
    return shapeKind
  }
}
