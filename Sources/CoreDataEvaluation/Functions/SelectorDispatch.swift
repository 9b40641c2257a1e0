import CoreDataPredicates
import Foundation

/// The selectors that values respond to without a registration: those of Foundation's classes that
/// make sense in a predicate.
enum SelectorDispatch {
  /// nil if the value has no such method, or not with these arguments.
  static func send(
    _ selector: String, to target: PredicateValue, _ arguments: [PredicateValue]
  ) throws -> PredicateValue? {
    if let result = try sendToAny(selector, target, arguments) { return result }
    switch target {
    case .string(let text): return send(selector, text, arguments)
    case .date(let date): return send(selector, date, arguments)
    case .array(let members): return send(selector, members, arguments)
    case .set(let members): return send(selector, members, arguments)
    case .dictionary(let entries): return send(selector, entries, arguments)
    default: return target.isNumber ? send(selector, number: target, arguments) : nil
    }
  }

  /// What every object responds to, and methods without arguments, which are keys.
  private static func sendToAny(
    _ selector: String, _ target: PredicateValue, _ arguments: [PredicateValue]
  ) throws -> PredicateValue? {
    switch selector {
    case "isEqual:", "isEqualTo:": return .bool(target == arguments[0])
    case "isNotEqualTo:": return .bool(target != arguments[0])
    case "isKindOfClass:", "isMemberOfClass:":
      if case .object(let type) = arguments[0], let family = type.value as? any ObjectFamily {
        guard case .object(let object) = target else { return .bool(false) }
        return .bool(family.contains(object.value))
      }
      guard case .object(let box) = arguments[0], let type = box.value as? Any.Type else {
        throw PredicateError.evaluation(
          "\(selector) needs a type on its right, passed with %@, not \(arguments[0].kindName).")
      }
      return .bool(TypeTest.isKind(target, of: type, exactly: selector == "isMemberOfClass:"))
    case "compare:":
      guard let order = ValueComparison.order(target, arguments[0]) else { return nil }
      return .integer(Int64(order.rawValue))
    default: break
    }
    guard arguments.isEmpty, target.elements == nil else { return nil }
    if case .object(let box) = target {
      return PredicateValue(normalizing: try KeyReader.read(selector, from: box.value))
    }
    return try? ScalarKeys.read(selector, from: target)
  }

  private static func send(
    _ selector: String, _ text: String, _ arguments: [PredicateValue]
  ) -> PredicateValue? {
    switch (selector, arguments.first) {
    case ("substringFromIndex:", let index?): return substring(text, from: index, to: nil)
    case ("substringToIndex:", let index?): return substring(text, from: .integer(0), to: index)
    case ("stringByReplacingOccurrencesOfString:withString:", .string(let old)?):
      guard case .string(let new) = arguments[1] else { return nil }
      return .string(text.replacingOccurrences(of: old, with: new))
    case (_, .string(let other)?) where arguments.count == 1: return send(selector, text, other)
    default: return nil
    }
  }

  private static func send(_ selector: String, _ text: String, _ other: String) -> PredicateValue? {
    if let comparison = StringComparison(selectorName: selector) {
      return .integer(Int64(StringMatching.compare(text, other, by: comparison).rawValue))
    }
    switch selector {
    case "stringByAppendingString:": return .string(text + other)
    case "hasPrefix:": return .bool(StringMatching.beginsWith(text, other))
    case "hasSuffix:": return .bool(StringMatching.endsWith(text, other))
    case "containsString:": return .bool(StringMatching.contains(text, other))
    case "isEqualToString:": return .bool(StringMatching.equals(text, other))
    case "stringByAppendingPathComponent:": return .string((text as NSString).appendingPathComponent(other))
    case "stringByAppendingPathExtension:":
      return (text as NSString).appendingPathExtension(other).map(PredicateValue.string) ?? .null
    case "componentsSeparatedByString:":
      return .array(text.components(separatedBy: other).map(PredicateValue.string))
    default: return nil
    }
  }

  /// Indexes count UTF-16 units, as `NSString`'s do.
  private static func substring(
    _ text: String, from start: PredicateValue, to end: PredicateValue?
  ) -> PredicateValue? {
    let text: NSString = text as NSString
    guard let start = NumberComparison.integer(start),
      let end = end.map({ NumberComparison.integer($0) }) ?? Int64(text.length),
      start >= 0, start <= end, end <= Int64(text.length)
    else { return nil }
    return .string(text.substring(with: NSRange(location: Int(start), length: Int(end - start))))
  }

  private static func send(
    _ selector: String, _ date: Date, _ arguments: [PredicateValue]
  ) -> PredicateValue? {
    switch (selector, arguments.first) {
    case ("dateByAddingTimeInterval:", let seconds?):
      return NumberComparison.double(seconds).map { .date(date.addingTimeInterval($0)) }
    case ("timeIntervalSinceDate:", .date(let other)?): return .double(date.timeIntervalSince(other))
    case ("isEqualToDate:", .date(let other)?): return .bool(date == other)
    case ("earlierDate:", .date(let other)?): return .date(min(date, other))
    case ("laterDate:", .date(let other)?): return .date(max(date, other))
    default: return nil
    }
  }

  private static func send(
    _ selector: String, number: PredicateValue, _ arguments: [PredicateValue]
  ) -> PredicateValue? {
    guard selector == "isEqualToNumber:", let other = arguments.first, other.isNumber else { return nil }
    return .bool(number == other)
  }

  private static func send(
    _ selector: String, _ members: [PredicateValue], _ arguments: [PredicateValue]
  ) -> PredicateValue? {
    switch (selector, arguments.first) {
    case ("count", _): return .integer(Int64(members.count))
    case ("firstObject", _): return members.first ?? .null
    case ("lastObject", _): return members.last ?? .null
    case ("containsObject:", let member?): return .bool(members.contains(member))
    case ("objectAtIndex:", let index?):
      guard let index = NumberComparison.integer(index), members.indices.contains(Int(index)) else {
        return nil
      }
      return members[Int(index)]
    case ("indexOfObject:", let member?):
      return .integer(Int64(members.firstIndex(of: member) ?? NSNotFound))
    case ("arrayByAddingObject:", let member?): return .array(members + [member])
    case ("arrayByAddingObjectsFromArray:", .array(let others)?): return .array(members + others)
    case ("isEqualToArray:", .array(let others)?): return .bool(members == others)
    case ("componentsJoinedByString:", .string(let separator)?):
      return .string(members.map(ScalarKeys.text).joined(separator: separator))
    default: return nil
    }
  }

  private static func send(
    _ selector: String, _ members: Set<PredicateValue>, _ arguments: [PredicateValue]
  ) -> PredicateValue? {
    switch (selector, arguments.first) {
    case ("count", _): return .integer(Int64(members.count))
    case ("anyObject", _): return members.first ?? .null
    case ("allObjects", _): return .array(Array(members))
    case ("containsObject:", let member?): return .bool(members.contains(member))
    case ("isSubsetOfSet:", .set(let others)?): return .bool(members.isSubset(of: others))
    case ("intersectsSet:", .set(let others)?): return .bool(!members.isDisjoint(with: others))
    case ("isEqualToSet:", .set(let others)?): return .bool(members == others)
    case ("setByAddingObject:", let member?): return .set(members.union([member]))
    case ("setByAddingObjectsFromSet:", .set(let others)?): return .set(members.union(others))
    default: return nil
    }
  }

  private static func send(
    _ selector: String, _ entries: [PredicateValue: PredicateValue], _ arguments: [PredicateValue]
  ) -> PredicateValue? {
    switch (selector, arguments.first) {
    case ("count", _): return .integer(Int64(entries.count))
    case ("allKeys", _): return .array(Array(entries.keys))
    case ("allValues", _): return .array(Array(entries.values))
    case ("objectForKey:", let key?), ("valueForKey:", let key?): return entries[key] ?? .null
    default: return nil
    }
  }
}
