// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreDataPredicates
import CoreDataStorage
import Foundation

// What stores keep of decimals (Decisions/0037). As Apple's: whole numbers of 64 bits, and else what a real holds, 15 to 17 digits. A save
// rounds to that, in stores of every kind, and the saved object has what the store has. All digits are kept where the attribute or the
// store asks for it.

/// Asks for all digits of decimals. In the user info of a decimal attribute (`YES` in Xcode's editor, `true` in code), or among the options of a
/// store, for all its decimals.
///
/// Otherwise a save keeps of a decimal what Apple's framework does: whole numbers below 2⁶³, and 15 significant digits of
/// others, often 17; the saved object, too, then has the value that was kept. Numbers with more digits are text in a SQLite file: Clarus
/// reads, compares, sorts and adds them right, with the option and without it; Apple's framework reads them, but its queries find them
/// greater than every other number.
public let ClarusExactDecimalsKey: String = "clarus.exactDecimals"

enum ExactDecimals {
  /// Whether the value of an option or of a user info means yes.
  static func isAskedFor(_ value: Any?) -> Bool {
    switch value {
    case let number as NSNumber: number.boolValue
    case let text as String: ["yes", "true", "1"].contains(text.lowercased())
    default: false
    }
  }
}

extension PropertySlot {
  /// A decimal that stores round, unless they are asked not to.
  var isRoundedDecimal: Bool {
    guard case .stored(.decimal, _) = role, !isDerived else { return false }
    return !ExactDecimals.isAskedFor(property.userInfo?[ClarusExactDecimalsKey])
  }
}

extension SlotValue {
  /// What is kept of a decimal.
  var rounded: SlotValue {
    guard case .object(let object) = self, let box = object as? Box<Decimal> else { return self }
    let kept: Decimal = DecimalText.kept(box.value)
    return kept == box.value ? self : .object(Box(kept))
  }
}

extension RowRef {
  /// Whether a row holds what is kept of a decimal.
  func holdsRounded(_ value: AnyObject, word: Int) -> Bool {
    guard let box = value as? Box<Decimal>, let held = DecimalText.number(string(word)) else { return false }
    return held == box.value || held == DecimalText.kept(box.value)
  }
}

// MARK: Predicates

extension PredicateNode {
  /// The predicate for what stores keep: constants of more digits than a real has, where they are compared with a decimal that is
  /// rounded, become that real. A number is found by what was set then, whether it was saved since or not.
  func comparingRounded(from entity: EntityRuntime) -> PredicateNode {
    var isConcerned = false
    forEachExpression { expression in
      if case .constant(let value) = expression, value.isRounded { isConcerned = true }
    }
    guard isConcerned else { return self }
    return mapComparisons { comparison in
      var result: ComparisonNode = comparison
      if entity.isRoundedDecimal(comparison.left) {
        result.right = comparison.right.mapConstants { $0.rounded }
      } else if entity.isRoundedDecimal(comparison.right) {
        result.left = comparison.left.mapConstants { $0.rounded }
      }
      return result
    }
  }
}

extension PredicateValue {
  /// Whether it is a number that is not kept as it is, or has one.
  fileprivate var isRounded: Bool {
    switch self {
    case .decimal(let number):
      let text: String = number.description
      return DecimalText.kept(text) != text
    case .unsigned(let number): return number > UInt64(Int64.max)
    case .array(let members): return members.contains(where: \.isRounded)
    case .set(let members): return members.contains(where: \.isRounded)
    default: return false
    }
  }

  /// Numbers that are not kept as they are, as the nearest real.
  fileprivate var rounded: PredicateValue {
    switch self {
    case .decimal(let number):
      return isRounded ? Double(number.description).map { .double($0) } ?? self : self
    case .unsigned(let number): return isRounded ? .double(Double(number)) : self
    case .array(let members): return .array(members.map(\.rounded))
    case .set(let members): return .set(Set(members.map(\.rounded)))
    default: return self
    }
  }
}

extension EntityRuntime {
  /// Whether an expression reads a decimal attribute that is rounded.
  fileprivate func isRoundedDecimal(_ expression: ExpressionNode) -> Bool {
    guard case .keyPath(let path) = expression else { return false }
    var rest: Substring = path[...]
    var entity: EntityRuntime = self
    while true {
      if let number = entity.layout.slotByName[String(rest)] { return entity.brief[number].isRounded }
      guard let point = rest.firstIndex(of: "."),
        let destination = entity.layout.slot(named: String(rest[..<point]))?.destination
      else { return false }
      entity = model.entities[destination]
      rest = rest[rest.index(after: point)...]
    }
  }
}
