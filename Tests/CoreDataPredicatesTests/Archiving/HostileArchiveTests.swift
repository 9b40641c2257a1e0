import CoreDataArchives
import Foundation
import TestSupport
import Testing

@testable import CoreDataPredicates

/// Archives that nobody writes: each gives an explained error or a predicate that bears everything that is
/// done with one.
struct HostileArchiveTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    var name: String
    var says: String
    var make: @Sendable (inout KeyedArchiveWriter) throws -> PlistNode
    var testDescription: String { name }
  }

  private static func expression(
    _ archive: inout KeyedArchiveWriter, _ name: String, _ fields: [String: PlistNode]
  ) -> PlistNode {
    archive.instance([name, "NSExpression", "NSObject"], fields)
  }

  private static func operation(
    _ archive: inout KeyedArchiveWriter, _ fields: [String: PlistNode]
  ) -> PlistNode {
    archive.instance(["NSEqualityPredicateOperator", "NSPredicateOperator", "NSObject"], fields)
  }

  private static func comparison(
    _ archive: inout KeyedArchiveWriter, _ left: PlistNode, _ right: PlistNode,
    _ operation: [String: PlistNode]
  ) -> PlistNode {
    let operation: PlistNode = self.operation(&archive, operation)
    return archive.instance(
      ["NSComparisonPredicate", "NSPredicate", "NSObject"],
      ["NSLeftExpression": left, "NSRightExpression": right, "NSPredicateOperator": operation])
  }

  /// A comparison whose left side is this.
  private static func comparing(
    _ archive: inout KeyedArchiveWriter, _ left: PlistNode
  ) -> PlistNode {
    let right: PlistNode = expression(&archive, "NSSelfExpression", ["NSExpressionType": .integer(1)])
    return comparison(&archive, left, right, ["NSOperatorType": .integer(4)])
  }

  private static func call(
    _ archive: inout KeyedArchiveWriter, _ selector: String, _ type: String = "_NSPredicateUtilities",
    arguments: Int = 1
  ) -> PlistNode {
    let name: PlistNode = archive.string(type)
    let operand: PlistNode = expression(
      &archive, "NSConstantValueExpression", ["NSConstantValueClassName": name])
    let key: PlistNode = expression(&archive, "NSSelfExpression", [:])
    let list: PlistNode = archive.array([PlistNode](repeating: key, count: arguments))
    let text: PlistNode = archive.string(selector)
    return expression(
      &archive, "NSFunctionExpression", ["NSOperand": operand, "NSSelectorName": text, "NSArguments": list])
  }

  static let samples: [Sample] = [
    Sample(name: "the root is nil", says: "holds no object") { _ in .uid(0) },
    Sample(name: "the root is no reference", says: "holds no object") { _ in .integer(1) },
    Sample(name: "the root is a string", says: "holds no object") { $0.string("a == 1") },
    Sample(name: "the root is another class", says: "unknown class NSDictionary") { $0.dictionary([:]) },
    Sample(name: "the root is a reference to nowhere", says: "reference to object 99") { _ in .uid(99) },
    Sample(name: "a predicate contains itself", says: "contains itself") { archive in
      let place: Int = archive.reserve()
      let members: PlistNode = archive.array([.uid(place)])
      archive.fill(
        place, ["NSCompoundPredicate"], ["NSCompoundPredicateType": .integer(0), "NSSubpredicates": members])
      return .uid(place)
    },
    Sample(name: "a subquery is its own collection", says: "contains itself") { archive in
      let place: Int = archive.reserve()
      let name: PlistNode = archive.string("x")
      let test: PlistNode = archive.instance(["NSTruePredicate"], [:])
      archive.fill(
        place, ["NSSubqueryExpression"],
        ["NSCollection": .uid(place), "NSVariable": name, "NSPredicate": test])
      return comparing(&archive, .uid(place))
    },
    Sample(name: "an array of constants contains itself", says: "contain themselves") { archive in
      let place: Int = archive.reserve()
      archive.fill(place, ["NSArray", "NSObject"], ["NS.objects": .array([.uid(place)])])
      let constant: PlistNode = expression(
        &archive, "NSConstantValueExpression", ["NSConstantValue": .uid(place)])
      return comparing(&archive, constant)
    },
    Sample(name: "a predicate is deeper than trees may be", says: "nests too deep") { archive in
      var node: PlistNode = archive.instance(["NSTruePredicate"], [:])
      for _ in 0..<5_000 {
        let list: PlistNode = archive.array([node])
        node = archive.instance(
          ["NSCompoundPredicate"], ["NSCompoundPredicateType": .integer(0), "NSSubpredicates": list])
      }
      return node
    },
    Sample(name: "shared members multiply", says: "nests too deep or contains itself") { archive in
      var node: PlistNode = archive.instance(["NSTruePredicate"], [:])
      for _ in 0..<40 {
        let list: PlistNode = archive.array([PlistNode](repeating: node, count: 10))
        node = archive.instance(
          ["NSCompoundPredicate"], ["NSCompoundPredicateType": .integer(1), "NSSubpredicates": list])
      }
      return node
    },
    Sample(name: "shared constants multiply", says: "more than a million") { archive in
      var value: PlistNode = archive.string("lol")
      for _ in 0..<40 { value = archive.array([PlistNode](repeating: value, count: 10)) }
      let constant: PlistNode = expression(&archive, "NSConstantValueExpression", ["NSConstantValue": value])
      return comparing(&archive, constant)
    },
    Sample(name: "an operator is an expression", says: "no known operator") { archive in
      let key: PlistNode = expression(&archive, "NSSelfExpression", [:])
      return archive.instance(
        ["NSComparisonPredicate"],
        ["NSLeftExpression": key, "NSRightExpression": key, "NSPredicateOperator": key])
    },
    Sample(name: "an operator has the number of none", says: "no known operator") { archive in
      let key: PlistNode = expression(&archive, "NSSelfExpression", [:])
      return comparison(&archive, key, key, ["NSOperatorType": .integer(12)])
    },
    Sample(name: "an operator has a number of ours", says: "no known operator") { archive in
      let key: PlistNode = expression(&archive, "NSSelfExpression", [:])
      return comparison(&archive, key, key, ["NSOperatorType": .integer(1001)])
    },
    Sample(name: "an operator's number is text", says: "is a string, not an integer") { archive in
      let key: PlistNode = expression(&archive, "NSSelfExpression", [:])
      return comparison(&archive, key, key, ["NSOperatorType": archive.string("4")])
    },
    Sample(name: "an operator's number is below all", says: "no known operator") { archive in
      let key: PlistNode = expression(&archive, "NSSelfExpression", [:])
      return comparison(&archive, key, key, ["NSOperatorType": .integer(.min)])
    },
    Sample(name: "a modifier is unknown", says: "unknown modifier 3") { archive in
      let key: PlistNode = expression(&archive, "NSSelfExpression", [:])
      return comparison(&archive, key, key, ["NSOperatorType": .integer(4), "NSModifier": .integer(3)])
    },
    Sample(name: "a selector compares that nobody knows", says: "sends terminate: with 1 arguments") {
      archive in
      let key: PlistNode = expression(&archive, "NSSelfExpression", [:])
      let selector: PlistNode = archive.string("terminate:")
      return comparison(&archive, key, key, ["NSOperatorType": .integer(11), "NSSelectorName": selector])
    },
    Sample(name: "an operator has no selector", says: "to which nothing answers") { archive in
      let key: PlistNode = expression(&archive, "NSSelfExpression", [:])
      return comparison(&archive, key, key, ["NSOperatorType": .integer(11)])
    },
    Sample(name: "a NOT has two members", says: "2 members instead of one") { archive in
      let member: PlistNode = archive.instance(["NSTruePredicate"], [:])
      let list: PlistNode = archive.array([member, member])
      return archive.instance(
        ["NSCompoundPredicate"], ["NSCompoundPredicateType": .integer(0), "NSSubpredicates": list])
    },
    Sample(name: "members are no list", says: "where a list belongs") { archive in
      let member: PlistNode = archive.instance(["NSTruePredicate"], [:])
      return archive.instance(
        ["NSCompoundPredicate"], ["NSCompoundPredicateType": .integer(1), "NSSubpredicates": member])
    },
    Sample(name: "a member is an expression", says: "unknown class NSSelfExpression") { archive in
      let list: PlistNode = archive.array([expression(&archive, "NSSelfExpression", [:])])
      return archive.instance(
        ["NSCompoundPredicate"], ["NSCompoundPredicateType": .integer(1), "NSSubpredicates": list])
    },
    Sample(name: "an operand is a predicate", says: "unknown class NSTruePredicate") { archive in
      comparing(&archive, archive.instance(["NSTruePredicate"], [:]))
    },
    Sample(name: "an operand is missing", says: "missing part") { archive in comparing(&archive, .uid(0)) },
    Sample(name: "an operand is a class", says: "class NSTask where a value belongs") { archive in
      let name: PlistNode = archive.string("NSTask")
      return comparing(
        &archive, expression(&archive, "NSConstantValueExpression", ["NSConstantValueClassName": name]))
    },
    Sample(name: "a method of a class is called", says: "class NSTask where a value belongs") { archive in
      comparing(&archive, call(&archive, "description", "NSTask", arguments: 0))
    },
    Sample(name: "a function is unknown", says: "calls evil: with 1 arguments") { archive in
      comparing(&archive, call(&archive, "evil:"))
    },
    Sample(name: "a function has too many arguments", says: "calls sum: with 2 arguments") { archive in
      comparing(&archive, call(&archive, "sum:", arguments: 2))
    },
    Sample(name: "an index has one argument", says: "1 arguments instead of two") { archive in
      comparing(&archive, call(&archive, "objectFrom:withIndex:"))
    },
    Sample(name: "a symbol stands alone", says: "FIRST where a value belongs") { archive in
      let text: PlistNode = archive.string("FIRST")
      return comparing(&archive, expression(&archive, "NSSymbolicExpression", ["NSSymbol": text]))
    },
    Sample(name: "a variable has no name", says: "NSVariable is missing") { archive in
      comparing(&archive, expression(&archive, "NSVariableExpression", [:]))
    },
    Sample(name: "a constant is an object of a class nobody allowed", says: "NSTask") { archive in
      let task: PlistNode = archive.instance(["NSTask", "NSObject"], [:])
      return comparing(&archive, expression(&archive, "NSConstantValueExpression", ["NSConstantValue": task]))
    },
    Sample(name: "a block is archived", says: "unknown class NSBlockExpression") { archive in
      comparing(&archive, expression(&archive, "NSBlockExpression", [:]))
    },
    Sample(name: "a date has no time", says: "a date without time") { archive in
      let date: PlistNode = archive.instance(["NSDate", "NSObject"], [:])
      return comparing(&archive, expression(&archive, "NSConstantValueExpression", ["NSConstantValue": date]))
    },
  ]

  @Test(arguments: samples) func `a hostile archive is an explained error`(sample: Sample) throws {
    var archive: KeyedArchiveWriter = KeyedArchiveWriter()
    let root: PlistNode = try sample.make(&archive)
    let data: Data = archive.data(root: root)
    let error: PredicateError = try #require(throws: PredicateError.self) {
      try NSPredicate(archivedData: data)
    }
    #expect(error.description.contains(sample.says), "\(error)")
    #expect(error.description.hasPrefix("This is no readable archive"))
    #expect(error.errorCode == 4)
    #expect(throws: PredicateError.self) {
      try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPredicate.self, from: data)
    }
  }

  @Test(arguments: [
    "", "bplist00", "bplist", "<plist></plist>", "<?xml version=\"1.0\"?>", "a == 1", "{ a = 1; }",
    "((((((((",
    "<plist><dict><key>$objects</key><array/></dict></plist>", "\u{FEFF}<plist/>",
  ])
  func `bytes that are no archive are an explained error`(text: String) {
    #expect(throws: PredicateError.self) { try NSPredicate(archivedData: Data(text.utf8)) }
    #expect(throws: PredicateError.self) { try NSSortDescriptor(archivedData: Data(text.utf8)) }
  }

  @Test(arguments: [
    String(repeating: "<array>", count: 200_000), String(repeating: "<array >", count: 200_000),
    String(repeating: "<dict><key>a</key>", count: 100_000), String(repeating: "(", count: 200_000),
    String(repeating: "<!-- </array> --><array>", count: 100_000),
    String(repeating: "<array><![CDATA[</array>]]>", count: 100_000),
    "<!DOCTYPE plist [<!ENTITY a \"<array>\">]>" + String(repeating: "&a;", count: 100_000),
  ])
  func `XML that nests without end is refused before Foundation reads it`(text: String) {
    for head in ["", "<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\">"] {
      #expect(throws: PredicateError.self) { try NSPredicate(archivedData: Data((head + text).utf8)) }
    }
  }

  @Test func `XML in another encoding is refused`() throws {
    let text: String =
      "<?xml version=\"1.0\" encoding=\"UTF-7\"?><plist version=\"1.0\">+ADw-array/+AD4-</plist>"
    let error: PredicateError? = #expect(throws: PredicateError.self) {
      try NSPredicate(archivedData: Data(text.utf8))
    }
    #expect(error?.description.contains("not UTF-8") == true)
    let wide: Data = try #require("<plist/>".data(using: .utf16))
    #expect(throws: PredicateError.self) { try NSPredicate(archivedData: wide) }
  }

  /// The offset table of a binary property list may name one place many times, so that ten thousand texts of
  /// ten kilobytes fit eighty.
  @Test func `objects that share bytes are refused`() throws {
    let text: [UInt8] = [0x5F, 0x11, 0x27, 0x10] + [UInt8](repeating: 0x61, count: 10_000)
    let count: Int = 10_000
    var bytes: [UInt8] = Array("bplist00".utf8) + text
    let arrayStart: Int = bytes.count
    bytes += [0xAF, 0x11, UInt8(count >> 8), UInt8(count & 0xFF)]
    for index in 1...count { bytes += [UInt8(index >> 8), UInt8(index & 0xFF)] }
    let table: Int = bytes.count
    for offset in [arrayStart] + [Int](repeating: 8, count: count) {
      bytes += [UInt8(offset >> 8), UInt8(offset & 0xFF)]
    }
    bytes += [0, 0, 0, 0, 0, 0, 2, 2]
    for number in [count + 1, 0, table] {
      bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    let error: PlistError = try #require(throws: PlistError.self) { try BinaryPlistReader.read(Data(bytes)) }
    #expect(error.reason.contains("lie over each other"))
  }

  // MARK: Random damage

  static let archives: [Data] = {
    let predicates: [NSPredicate] = [
      NSPredicate(
        format: """
          ANY a.b[FIRST] LIKE[cd] %@ AND (NOT SUBQUERY(c, $x, $x.d BETWEEN {1, 2.5}).@count > 0 OR TERNARY(a == nil, 1, \
          FUNCTION(b, 'hasPrefix:', 'x')) == now())
          """, "x*"),
      NSPredicate(
        format: "a IN %@ OR b == %@ OR c == %@ OR d == %@",
        argumentArray: [
          Set([1, 2, 3]), ["k": [Date(timeIntervalSinceReferenceDate: 0), UUID()] as [Any]],
          Decimal(string: "1.25")!, URL(string: "https://example.org/a")!,
        ]),
    ]
    var all: [Data] = predicates.compactMap { try? $0.archivedData() }
    if let first = all.first,
      let content = try? PropertyListSerialization.propertyList(from: first, format: nil),
      let xml = try? PropertyListSerialization.data(fromPropertyList: content, format: .xml, options: 0)
    {
      all.append(xml)
    }
    return all
  }()
  private static let step: Int = Soak.isOn ? 1 : 97
  private static let rounds: Int = Soak.isOn ? 10_000 : 200

  /// What is read must bear everything that is done with predicates.
  private func survives(_ data: Data) -> Bool {
    do {
      let predicate: NSPredicate = try NSPredicate(archivedData: data)
      predicate.allowEvaluation()
      _ = predicate.formatText
      _ = predicate.hash
      _ = predicate.predicateNode().depth
      _ = try? predicate.archivedData()
      _ = try? predicate.evaluateThrowing(
        with: ["a": 1, "b": "x", "c": [["d": 1]]] as [String: Any], substitutionVariables: ["x": 1])
      return true
    } catch {
      return error is PredicateError
    }
  }

  @Test func `an archive cut off anywhere is an explained error`() {
    for archive in Self.archives {
      for length in 0..<archive.count - 1 where length % Self.step == 0 {
        #expect(survives(archive.prefix(length)), "cut to \(length) of \(archive.count)")
      }
    }
  }

  @Test func `an archive with any bit turned over is an error or a predicate`() {
    for archive in Self.archives {
      for position in archive.indices where position % Self.step == 0 {
        var bytes: Data = archive
        bytes[position] ^= 1 << (position % 8)
        #expect(survives(bytes), "bit \(position % 8) of byte \(position)")
      }
    }
  }

  @Test(arguments: [3, 14, 159]) func `random changes to an archive never crash its reader`(seed: UInt64) {
    print("seed \(seed)")
    var random: SeededRandom = SeededRandom(seed: seed)
    for _ in 0..<Self.rounds {
      var bytes: Data = Self.archives.randomElement(using: &random) ?? Data()
      for _ in 0...Int.random(in: 0...6, using: &random) {
        let position: Int = .random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...2, using: &random) {
        case 0: bytes[position] ^= 1 << UInt8.random(in: 0...7, using: &random)
        case 1: bytes[position] = .random(in: 0...255, using: &random)
        default: bytes[position] = bytes.randomElement(using: &random) ?? 0
        }
      }
      #expect(survives(bytes), "seed \(seed)")
    }
  }

  @Test(arguments: [26, 535, 89]) func `random exchanges of an archive's fields never crash its reader`(
    seed: UInt64
  ) throws {
    print("seed \(seed)")
    var random: SeededRandom = SeededRandom(seed: seed)
    for _ in 0..<Self.rounds {
      let archive: KeyedArchive = try KeyedArchive(Self.archives.randomElement(using: &random) ?? Data())
      var objects: [PlistNode] = archive.objects
      for _ in 0...Int.random(in: 0...4, using: &random) {
        let position: Int = .random(in: 0..<objects.count, using: &random)
        guard case .dictionary(var fields) = objects[position],
          let key = fields.keys.sorted().randomElement(using: &random)
        else { continue }
        let values: [PlistNode] = [
          .uid(.random(in: 0..<objects.count, using: &random)), .uid(1 << 30), .integer(.max), .integer(.min),
          .integer(.random(in: 0...20, using: &random)), .unsigned(.max), .string("valueForKeyPath:"),
          .array([.uid(position)]), .real(.nan), .boolean(true), .data(Data()), .dictionary([:]),
        ]
        fields[key] = values.randomElement(using: &random)
        objects[position] = .dictionary(fields)
      }
      let root: PlistNode = archive.top["root"] ?? .uid(1)
      #expect(survives(KeyedArchive.data(objects: objects, root: root)), "seed \(seed)")
    }
  }

  @Test func `the deepest allowed trees fit half a megabyte of stack`() {
    let levels: Int = TreeLimits.depth - 2
    var predicate: PredicateNode = .comparison(
      ComparisonNode(left: .keyPath("a"), right: .constant(.integer(1)), comparison: .equalTo))
    for _ in 0..<levels { predicate = .compound(.not, [predicate]) }
    var expression: ExpressionNode = .keyPath("a")
    for _ in 0..<levels { expression = .aggregate([expression]) }
    let trees: [PredicateNode] = [
      predicate, .comparison(ComparisonNode(left: expression, right: .keyPath("b"), comparison: .equalTo)),
    ]
    for tree in trees {
      let failure: String? = onSmallStack {
        do {
          let whole: NSPredicate = makePredicate(tree)
          let again: NSPredicate = try NSPredicate(archivedData: whole.archivedData())
          return again == whole ? nil : "another tree came back"
        } catch {
          return "\(error)"
        }
      }
      #expect(failure == nil)
    }
  }
}
