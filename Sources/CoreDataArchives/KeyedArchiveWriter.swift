import Foundation

/// Builds the object table of a keyed archive that Apple's `NSKeyedUnarchiver` decodes.
package struct KeyedArchiveWriter {
  private var objects: [PlistNode] = [.string("$null")]
  /// By their bytes: equal texts may be spelled in different code points.
  private var strings: [[UInt8]: Int] = [:]
  private var classes: [String: Int] = [:]

  package static let null: PlistNode = .uid(0)

  package init() {}

  /// Reserves a place for an object whose fields are not known yet; others may already refer to it.
  package mutating func reserve() -> Int {
    objects.append(.string("$null"))
    return objects.count - 1
  }

  /// Puts an instance at a reserved place. `classes` is the class and its ancestors, `NSObject` last.
  package mutating func fill(_ index: Int, _ classes: [String], _ fields: [String: PlistNode]) {
    var fields = fields
    fields["$class"] = .uid(classIndex(classes))
    objects[index] = .dictionary(fields)
  }

  package mutating func instance(_ classes: [String], _ fields: [String: PlistNode]) -> PlistNode {
    let index = reserve()
    fill(index, classes, fields)
    return .uid(index)
  }

  private mutating func classIndex(_ names: [String]) -> Int {
    let key = names.joined(separator: ":")
    if let index = classes[key] { return index }
    objects.append(
      .dictionary(["$classname": .string(names[0]), "$classes": .array(names.map { .string($0) })]))
    classes[key] = objects.count - 1
    return objects.count - 1
  }

  package mutating func string(_ text: String?) -> PlistNode {
    guard let text else { return Self.null }
    let bytes: [UInt8] = Array(text.utf8)
    if let index = strings[bytes] { return .uid(index) }
    let place = reserve()
    strings[bytes] = place
    // Readers treat a bare "$null" as nil, wherever it is.
    if text == "$null" {
      fill(place, ["NSString", "NSObject"], ["NS.string": .string(text)])
    } else {
      objects[place] = .string(text)
    }
    return .uid(place)
  }

  package mutating func array(_ elements: [PlistNode], mutable: Bool = false) -> PlistNode {
    instance(
      mutable ? ["NSMutableArray", "NSArray", "NSObject"] : ["NSArray", "NSObject"],
      ["NS.objects": .array(elements)])
  }

  package mutating func set(_ elements: [PlistNode]) -> PlistNode {
    instance(["NSSet", "NSObject"], ["NS.objects": .array(elements)])
  }

  package mutating func dictionary(_ pairs: [(key: PlistNode, value: PlistNode)], mutable: Bool = false)
    -> PlistNode
  {
    instance(
      mutable ? ["NSMutableDictionary", "NSDictionary", "NSObject"] : ["NSDictionary", "NSObject"],
      ["NS.keys": .array(pairs.map(\.key)), "NS.objects": .array(pairs.map(\.value))])
  }

  package mutating func dictionary(_ content: [String: PlistNode], mutable: Bool = false) -> PlistNode {
    dictionary(content.sorted { $0.key < $1.key }.map { (string($0.key), $0.value) }, mutable: mutable)
  }

  package mutating func plain(_ node: PlistNode) -> PlistNode {
    objects.append(node)
    return .uid(objects.count - 1)
  }

  /// Archives a value as Foundation does. Throws ``PlistError`` for values of types that neither property
  /// lists nor Foundation's classes hold.
  package mutating func value(_ value: Any?, of owner: String) throws -> PlistNode {
    guard let value else { return Self.null }
    switch value {
    case let value as NSDecimalNumber: return decimal(value.decimalValue)
    case let value as NSNumber: return plain(Self.number(value))
    case let value as Decimal: return decimal(value)
    case let value as String: return string(value)
    case let value as Date:
      guard !value.timeIntervalSinceReferenceDate.isNaN else {
        throw PlistError("\(owner) holds a date that is no number; set another")
      }
      return date(value)
    case let value as Data: return plain(.data(value))
    case let value as UUID: return uuid(value)
    case let value as URL: return url(value)
    case is NSNull: return instance(["NSNull", "NSObject"], [:])
    case let value as UndecodedValue: return try undecoded(value, of: owner)
    case let value as [Any]:
      let elements = try value.map { try self.value($0, of: owner) }
      return array(elements)
    case let value as [AnyHashable: Any]:
      let ordered = value.sorted { "\($0.key)" < "\($1.key)" }
      let pairs = try ordered.map {
        (try self.value($0.key.base, of: owner), try self.value($0.value, of: owner))
      }
      return dictionary(pairs)
    case let value as Set<AnyHashable>:
      let ordered = value.sorted { "\($0)" < "\($1)" }
      let elements = try ordered.map { try self.value($0.base, of: owner) }
      return set(elements)
    default:
      throw PlistError(
        "\(owner) holds a \(type(of: value)), which can't be archived; use property-list values, decimals, UUIDs or URLs"
      )
    }
  }

  /// Archives an object of a class of the program with `NSKeyedArchiver`; the archived objects are added to
  /// the table.
  package mutating func secureObject(_ value: Any, of owner: String) throws -> PlistNode {
    guard let object = value as? any NSSecureCoding, type(of: object).supportsSecureCoding else {
      throw PlistError(
        "\(owner) hold an object of type \(type(of: value)), which is not NSSecureCoding. Put a $variable in its place and "
          + "give it its value with withSubstitutionVariables(_:) after decoding")
    }
    let archive = try KeyedArchive(
      NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true))
    let offset = objects.count - 1
    objects += archive.objects.dropFirst().map { $0.mapReferences { $0 + offset } }
    return archive.top["root"]?.mapReferences { $0 + offset } ?? Self.null
  }

  package mutating func undecoded(_ value: UndecodedValue, of owner: String) throws -> PlistNode {
    var fields: [String: PlistNode] = [:]
    for (key, content) in value.fields { fields[key] = try self.field(content, of: owner) }
    return instance(value.classes.isEmpty ? [value.className, "NSObject"] : value.classes, fields)
  }

  package mutating func date(_ value: Date) -> PlistNode {
    instance(["NSDate", "NSObject"], ["NS.time": .real(value.timeIntervalSinceReferenceDate)])
  }

  package mutating func uuid(_ value: UUID) -> PlistNode {
    let bytes = withUnsafeBytes(of: value.uuid) { Data($0) }
    return instance(["NSUUID", "NSObject"], ["NS.uuidbytes": .data(bytes)])
  }

  package mutating func url(_ value: URL) -> PlistNode {
    let base = value.baseURL.map { url($0) } ?? Self.null
    return instance(["NSURL", "NSObject"], ["NS.base": base, "NS.relative": string(value.relativeString)])
  }

  /// A field of an instance: numbers are inline, everything else is a reference.
  private mutating func field(_ value: Any, of owner: String) throws -> PlistNode {
    if let number = value as? NSNumber, !(value is NSDecimalNumber) { return Self.number(number) }
    return try self.value(value, of: owner)
  }

  /// Foundation's numbers keep the type they were made from: "c" or "B" is a Boolean, "d" and "f" are reals.
  private static func number(_ value: NSNumber) -> PlistNode {
    switch value.objCType.pointee {
    case CChar(UInt8(ascii: "B")), CChar(UInt8(ascii: "c")): .boolean(value.boolValue)
    case CChar(UInt8(ascii: "d")), CChar(UInt8(ascii: "f")): .real(value.doubleValue)
    default: .integer(value.int64Value)
    }
  }

  package mutating func decimal(_ value: Decimal) -> PlistNode {
    // The digits as 16-bit words, least significant first, parsed from the decimal text, so that this does
    // not depend on the layout of `Decimal` on a particular platform.
    var exponent = value.exponent
    if value.isNaN { exponent = 0 }
    let digits = value.isNaN ? "0" : "\(Swift.abs(value.significand))"
    var words: [UInt16] = []
    for digit in digits.utf8 {
      var carry = UInt32(digit) - UInt32(UInt8(ascii: "0"))
      for i in words.indices {
        carry += UInt32(words[i]) * 10
        words[i] = UInt16(truncatingIfNeeded: carry)
        carry >>= 16
      }
      if carry > 0 { words.append(UInt16(carry)) }
    }
    let bytes = (words + [UInt16](repeating: 0, count: max(0, 8 - words.count))).flatMap {
      [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
    }
    return instance(
      ["NSDecimalNumber", "NSNumber", "NSValue", "NSObject"],
      [
        "NS.exponent": .integer(Int64(exponent)), "NS.length": .integer(Int64(words.count)),
        "NS.negative": .boolean(value.isNaN || value.sign == .minus), "NS.compact": .boolean(true),
        "NS.mantissa.bo": .integer(1), "NS.mantissa": .data(Data(bytes)),
      ])
  }

  package func archive(root: PlistNode) -> KeyedArchive {
    KeyedArchive(objects: objects, top: ["root": root])
  }

  package func data(root: PlistNode, name: String = "root") -> Data {
    KeyedArchive.data(objects: objects, root: root, name: name)
  }
}
