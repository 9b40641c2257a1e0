import CoreDataArchives
import Foundation
import TestSupport

/// Damage to property lists, and to the tables of objects that archives are. The result is a binary property
/// list that is well formed; what it says is not.
struct ArchiveDamage {
  private var random: SeededRandom
  /// How many objects the archive has, for references that are right and those that are not.
  private var objectCount: Int = 0

  static func apply(to sample: Data, _ random: inout SeededRandom) -> Data {
    guard var root = try? PlistNode.read(sample) else { return sample }
    var damage = ArchiveDamage(random: random)
    defer { random = damage.random }
    if case .dictionary(let content) = root, case .array(let objects)? = content["$objects"] {
      damage.objectCount = objects.count
    }
    for _ in 0..<damage.number(1...6) { root = damage.changed(root) }
    return BinaryPlistWriter.write(root)
  }

  private mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }

  private mutating func oneIn(_ count: Int) -> Bool { number(1...count) == 1 }

  /// The node with one change somewhere within.
  private mutating func changed(_ node: PlistNode) -> PlistNode {
    switch node {
    case .dictionary(var content):
      if let objects = content["$objects"], !oneIn(20) {
        content["$objects"] = changed(objects)
        return .dictionary(content)
      }
      let keys: [String] = content.keys.sorted()
      guard let key = keys.randomElement(using: &random), !oneIn(12) else { return substitute() }
      switch number(0...11) {
      case 0: content[key] = nil
      case 1:
        let other: String = keys.randomElement(using: &random) ?? key
        (content[key], content[other]) = (content[other], content[key])
      case 2: content["\(key)x"] = content.removeValue(forKey: key)
      case 3: content[number(0...1) == 0 ? "../../\(key)" : ""] = content[key]
      default: content[key] = content[key].map { changed($0) }
      }
      return .dictionary(content)
    case .array(var list):
      guard !list.isEmpty, !oneIn(20) else { return substitute() }
      let place: Int = number(0...list.count - 1)
      switch number(0...11) {
      case 0: list.swapAt(place, number(0...list.count - 1))
      case 1: list.remove(at: place)
      case 2: list.append(list[place])
      case 3: list[place] = list[number(0...list.count - 1)]
      default: list[place] = changed(list[place])
      }
      return .array(list)
    default: return oneIn(3) ? substitute() : similar(to: node)
    }
  }

  /// Another value of the kind.
  private mutating func similar(to node: PlistNode) -> PlistNode {
    switch node {
    case .uid: return .uid(number(0...max(2, objectCount + 2)))
    case .integer(let value):
      let extremes: [Int64] = [
        0, -1, 1, .max, .min, Int64(Int32.max) + 1, Int64(UInt32.max), value &+ 1, 0 &- value, value &* 100,
      ]
      return .integer(extremes.randomElement(using: &random) ?? 0)
    case .boolean(let value): return .boolean(!value)
    case .real: return .real([.nan, .infinity, -1, 1e308, 0].randomElement(using: &random) ?? 0)
    case .string(let text):
      let texts: [String] = [
        "", "NSObject", "NSManagedObjectModel", "NSEntityDescription", "NSArray", "NSDictionary", "NSString",
        "Item", "$null", "../../x", "\u{0}", "é", String(repeating: "x", count: 50_000), text + text,
        String(text.reversed()),
      ]
      return .string(texts.randomElement(using: &random) ?? "")
    case .data(let data): return .data(ByteDamage.apply(to: data, &random))
    default: return substitute()
    }
  }

  /// A value of any kind.
  private mutating func substitute() -> PlistNode {
    switch number(0...10) {
    case 0: return .uid(number(0...max(2, objectCount + 2)))
    case 1: return .integer(Int64.random(in: .min ... .max, using: &random))
    case 2: return .unsigned(.max)
    case 3: return .real(.nan)
    case 4: return .date(number(0...1) == 0 ? 1e300 : .nan)
    case 5: return .data(Data(repeating: 7, count: number(0...100)))
    case 6: return .string("x")
    case 7: return .boolean(true)
    case 8:
      let member: PlistNode = .uid(number(0...max(2, objectCount)))
      return .array(Array(repeating: member, count: [0, 1, 30, 100_000].randomElement(using: &random) ?? 0))
    case 9: return (0..<number(1...300)).reduce(.array([])) { node, _ in .array([node]) }
    default: return .dictionary(["x": .uid(number(0...max(2, objectCount)))])
    }
  }
}
