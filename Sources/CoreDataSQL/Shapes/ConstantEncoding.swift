import CoreDataPredicates
import CoreDataStorage

/// How a statement uses a parameter of its shape: how a value of the same kind is converted for binding.
enum ConstantEncoding: Sendable, Hashable {
  /// In the form in which columns of a type hold the value, compared by an operator.
  case value(ValueType, SQLOperator)
  /// The n-th member of a list, which is an array; the last one if there are fewer, because lists are padded.
  case member(Int, ValueType, SQLOperator)
  /// The key of an object whose entity is one of these.
  case key(ClosedRange<Int>)
  case memberKey(Int, ClosedRange<Int>)
  /// A text to search for. `isLiteral`: by the database's own functions, which do not accept NUL.
  case needle(isLiteral: Bool)
  /// A prefix, and the first text after all those that begin with it.
  case prefix
  case prefixEnd
  /// A pattern of `LIKE`. `isLiteral`: one that is not just a prefix.
  case pattern(isLiteral: Bool)
  case patternPrefix
  case patternPrefixEnd

  /// The value to bind, as the store's encoding has it; nil if the statement would not be right for it: nil,
  /// NaN, an object of another store, a text that needs another test.
  func bound(_ value: PredicateValue, by encoding: any ValueEncoding) -> SQLValue? {
    func encoded(_ value: PredicateValue, _ type: ValueType, _ symbol: SQLOperator) -> SQLValue? {
      guard case .value(let bound) = encoding.bind(value, as: type, comparedBy: symbol) else { return nil }
      return bound
    }
    switch self {
    case .value(let type, let symbol): return encoded(value, type, symbol)
    case .member(let place, let type, let symbol):
      return Self.member(value, place).flatMap { encoded($0, type, symbol) }
    case .key(let family): return Self.key(value, family)
    case .memberKey(let place, let family):
      return Self.member(value, place).flatMap { Self.key($0, family) }
    case .needle, .prefix, .prefixEnd, .pattern, .patternPrefix, .patternPrefixEnd:
      guard case .string(let text) = value else { return nil }
      return self.text(text).map(SQLValue.text)
    }
  }

  private func text(_ text: String) -> String? {
    switch self {
    case .needle(let isLiteral): return text.isEmpty || isLiteral && text.utf8.contains(0) ? nil : text
    case .prefix: return Self.prefixEnd(text) == nil ? nil : text
    case .prefixEnd: return Self.prefixEnd(text)
    case .pattern(let isLiteral): return isLiteral && Comparison.prefix(ofPattern: text) != nil ? nil : text
    case .patternPrefix:
      return Comparison.prefix(ofPattern: text).flatMap { Self.prefixEnd($0) == nil ? nil : $0 }
    case .patternPrefixEnd: return Comparison.prefix(ofPattern: text).flatMap(Self.prefixEnd)
    case .value, .member, .key, .memberKey: return nil
    }
  }

  private static func prefixEnd(_ text: String) -> String? {
    text.isEmpty || text.utf8.contains(0) ? nil : Comparison.successor(of: text)
  }

  private static func key(_ value: PredicateValue, _ family: ClosedRange<Int>) -> SQLValue? {
    guard case .object(let box) = value, let id = (box.value as? ObjectReference)?.id,
      family.contains(Int(id.entity))
    else { return nil }
    return .integer(id.key)
  }

  private static func member(_ value: PredicateValue, _ place: Int) -> PredicateValue? {
    guard case .array(let members) = value, !members.isEmpty else { return nil }
    return members[min(place, members.count - 1)]
  }
}

/// One use of a parameter.
struct ConstantUse: Sendable, Hashable {
  /// Its number among the parameters of the shape.
  var parameter: Int
  var encoding: ConstantEncoding
}
