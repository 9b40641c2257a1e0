// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreDataStorage
import Foundation

// The digits of decimals that stores keep (Decisions/0037). As Apple's: integers of 64 bits, and otherwise
// the digits of a real, 15 to 17. A save rounds to these, in stores of every kind and in child contexts, and
// the saved object gets the store's value. Fetches compare what a save would keep (Decisions/0055). All
// digits are kept if the attribute or the store requests it.

/// Requests that all digits of decimals are kept. Set it in the user info of a decimal attribute (`YES` in
/// Xcode's editor, `true` in code), or among the options of a store, for all its decimals.
///
/// Otherwise a save keeps what Apple's framework keeps of a decimal: integers below 2⁶³, and 15 significant
/// digits of others, often 17; the saved object then has that value, too. Numbers with more digits are text
/// in a SQLite file: Clarus reads, compares, sorts and adds them correctly, with the option and without it;
/// Apple's framework reads them, but its queries treat them as greater than every other number.
public let ClarusExactDecimalsKey: String = "clarus.exactDecimals"

package enum ExactDecimals {
  /// Whether the value of an option or of a user info means yes.
  package static func isRequested(_ value: Any?) -> Bool {
    switch value {
    case let number as NSNumber: number.boolValue
    case let text as String: ["yes", "true", "1"].contains(text.lowercased())
    default: false
    }
  }
}

extension PropertySlot {
  /// A decimal that stores round, unless all digits are requested.
  var isRoundedDecimal: Bool {
    guard case .stored(.decimal, _) = role, !isDerived else { return false }
    return !ExactDecimals.isRequested(property.userInfo?[ClarusExactDecimalsKey])
  }
}

extension SlotValue {
  /// The value that a save keeps of a decimal.
  var rounded: SlotValue {
    guard case .object(let object) = self, let box = object as? Box<Decimal> else { return self }
    let kept: Decimal = DecimalText.kept(box.value)
    return kept == box.value ? self : .object(Box(kept))
  }
}

extension RowRef {
  /// Whether a row holds the kept value of a decimal.
  func holdsRounded(_ value: AnyObject, word: Int) -> Bool {
    guard let box = value as? Box<Decimal>, let held = DecimalText.number(string(word)) else { return false }
    return held == box.value || held == DecimalText.kept(box.value)
  }
}

extension NSManagedObject {
  /// Whether the object's store keeps all digits; for a new object, whether any store does that may hold it.
  final var keepsExactDecimals: Bool {
    if let store { return store.keepsExactDecimals }
    return identityMap?.context?.persistentStoreCoordinator?.keepsExactDecimals ?? false
  }

  /// The value that stores keep of a slot's value.
  final func keptValue(_ slot: Int, _ value: SlotValue) -> SlotValue {
    runtime.compactSlots[slot].isRounded && !keepsExactDecimals ? value.rounded : value
  }
}

extension NSPersistentStoreCoordinator {
  /// Whether a store keeps all digits of decimals.
  final var keepsExactDecimals: Bool { persistentStores.contains { $0.keepsExactDecimals } }
}
