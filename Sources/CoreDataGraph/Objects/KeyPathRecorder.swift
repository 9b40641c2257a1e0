import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

// How `\Item.title` gets its name. Managed properties are computed, and key paths of computed properties have no name off Apple's
// platforms. So the getter is run on a recording instance of the class: an object whose accessors note the key they are
// asked for and hand out made-up values. If exactly one key was asked for and its value comes out unchanged, twice and more with
// different values, that key is the name. A to-one relationship hands out a recording instance in turn: `\Item.category?.name`
// is `category.name`.
//
//     \Item.title          managedValue("title") → "aB"         result "aB"            title
//     \Item.category?.name managedObject("category") → recorder → managedValue("name")  category.name
//     \Item.fullTitle      managedValue("title") → "aB"         result "aB, today"     no name
//
// A recording instance is a fault for ever, so accessors of ordinary objects pay nothing: only the way that loads a fault looks
// whether there is a recorder. It belongs to the thread that runs the getter, and to no context.

/// What one recording instance was asked for.
final class KeyPathRecorder {
  /// What was handed out for a key.
  enum Answer {
    case value(PredicateValue)
    /// The recording instance behind a to-one relationship.
    case target(NSManagedObject)
    /// The recording instance that is the one member of a to-many relationship.
    case member(NSManagedObject)
    /// nil, since nothing of that type can be made up.
    case nothing(Any.Type)
  }

  private(set) var notes: [(key: String, answer: Answer)] = []
  private let samples: KeyPathSamples

  init(_ samples: KeyPathSamples) { self.samples = samples }

  private func note(_ key: String, _ answer: Answer) {
    if !notes.contains(where: { $0.key == key }) { notes.append((key, answer)) }
  }

  // MARK: Accessors

  /// A made-up value for an accessor of this type.
  func value<Value>(_ key: String) -> Value? {
    guard let value: Value = samples.value() else {
      note(key, .nothing(Value.self))
      return nil
    }
    note(key, .value(PredicateValue(normalizing: value)))
    return value
  }

  func target<Target: NSManagedObject>(_ key: String) -> Target? {
    instance(key, Target.self, Answer.target) as? Target
  }

  func members<Member: NSManagedObject>(_ key: String) -> [Member] {
    (instance(key, Member.self, Answer.member) as? Member).map { [$0] } ?? []
  }

  /// The same for key-value coding, where only the key path tells what is wanted.
  func anyValue(_ key: String) -> Any? {
    if let type = samples.wanted as? NSManagedObject.Type { return instance(key, type, Answer.target) }
    if let type = samples.wanted as? any ManagedMembers.Type {
      return type.holding(instance(key, type.memberType, Answer.member))
    }
    guard let value = samples.keyValue() else {
      note(key, .nothing(Any.self))
      return nil
    }
    note(key, .value(PredicateValue(normalizing: value)))
    return value
  }

  private func instance(
    _ key: String, _ type: NSManagedObject.Type, _ answer: (NSManagedObject) -> Answer
  ) -> NSManagedObject {
    for note in notes where note.key == key {
      switch note.answer {
      case .target(let known), .member(let known): return known
      case .value, .nothing: break
      }
    }
    let made: NSManagedObject = Self.makeInstance(type, samples)
    note(key, answer(made))
    return made
  }

  /// An object that records. Its initialiser may be the program's own.
  static func makeInstance(_ type: NSManagedObject.Type, _ samples: KeyPathSamples) -> NSManagedObject {
    let model: ModelRuntime = .recording
    let entity = NSEntityDescription()
    entity.runtimeStorage = EntityRuntime(
      model: model, layout: model.layout.entities[0], recorder: KeyPathRecorder(samples))
    let object: NSManagedObject = type.init(entity: entity, insertInto: nil)
    object.flags.insert(.fault)
    return object
  }
}

/// Collections of managed objects, as properties declare them.
private protocol ManagedMembers {
  static var memberType: NSManagedObject.Type { get }
  static func holding(_ member: NSManagedObject) -> Any
}

extension Set: ManagedMembers where Element: NSManagedObject {
  fileprivate static var memberType: NSManagedObject.Type { Element.self }
  fileprivate static func holding(_ member: NSManagedObject) -> Any { NSSet(object: member) }
}

extension Array: ManagedMembers where Element: NSManagedObject {
  fileprivate static var memberType: NSManagedObject.Type { Element.self }
  fileprivate static func holding(_ member: NSManagedObject) -> Any { NSArray(object: member) }
}

extension NSSet: ManagedMembers {
  fileprivate static var memberType: NSManagedObject.Type { NSManagedObject.self }
  fileprivate static func holding(_ member: NSManagedObject) -> Any { NSSet(object: member) }
}

extension NSOrderedSet: ManagedMembers {
  fileprivate static var memberType: NSManagedObject.Type { NSManagedObject.self }
  fileprivate static func holding(_ member: NSManagedObject) -> Any { NSOrderedSet(object: member) }
}

extension ModelRuntime {
  /// The model of recording instances: one entity, whose one property takes whatever setters write.
  static let recording: ModelRuntime = {
    let property = NSAttributeDescription()
    property.name = "recorded"
    property.attributeType = .undefinedAttributeType
    property.isTransient = true
    let entity = NSEntityDescription()
    entity.name = "Recording"
    entity.properties = [property]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return ModelRuntime.unlisted(model)
  }()
}

// MARK: - Naming

extension NSManagedObject: KeyPathNaming, KeyPathRecording {
  package static func recordedName(of keyPath: AnyKeyPath) -> KeyPathName {
    if let key = CustomAccessor.key(of: keyPath, in: self) { return .named(key) }
    let wanted: Any.Type = KeyPathSamples.unwrapped(type(of: keyPath).valueType)
    var name: String?
    guard let rounds = KeyPathSamples.rounds(for: wanted) else {
      return .unnamed("its type \(wanted) can't be tried out, unless it is CaseIterable")
    }
    for samples in rounds {
      let object: NSManagedObject = KeyPathRecorder.makeInstance(self, samples)
      let result: Any? = SlotValue.unwrapped((object as Any)[keyPath: keyPath])
      switch KeyPathTrial(wanted: wanted, result: result).judge(object) {
      case .unnamed(let reason): return .unnamed(reason)
      case .named(let found):
        guard name == nil || name == found else {
          return .unnamed("its getter asks now for '\(name ?? "")' and now for '\(found)'")
        }
        name = found
      }
    }
    return name.map(KeyPathName.named) ?? .unnamed("its getter asks for no managed value")
  }
}

/// What came out of a getter, weighed against what was handed in.
private struct KeyPathTrial {
  let wanted: Any.Type
  let result: Any?

  func judge(_ object: NSManagedObject) -> KeyPathName {
    guard let recorder = object.runtime.recorder, let note = recorder.notes.first else {
      if isSame(object) { return .named("self") }
      if let id = result as? NSManagedObjectID, id === object.objectID { return .named("objectID") }
      return .unnamed("its getter asks for no managed value")
    }
    guard recorder.notes.count == 1 else {
      let keys: String = recorder.notes.map(\.key).joined(separator: ", ")
      return .unnamed("its getter asks for several managed values (\(keys))")
    }
    switch note.answer {
    case .target(let target):
      if isSame(target) { return .named(note.key) }
      if target.runtime.recorder?.notes.isEmpty ?? true { break }
      switch judge(target) {
      case .named(let rest): return .named("\(note.key).\(rest)")
      case .unnamed(let reason): return .unnamed(reason)
      }
    case .member(let member):
      let members: [PredicateValue] = PredicateValue(normalizing: result).elements ?? []
      if members == [.object(ObjectBox(member))] { return .named(note.key) }
    case .value(let value):
      if PredicateValue(normalizing: KeyPathSamples.rawValue(of: result)) == value { return .named(note.key) }
    case .nothing(let asked):
      if result == nil, asked == wanted { return .named(note.key) }
    }
    return .unnamed("its getter makes something else of '\(note.key)'")
  }

  private func isSame(_ object: NSManagedObject) -> Bool {
    (result as? NSManagedObject) === object
  }
}

// MARK: - Made-up values

/// The values that one trial hands out. Trials go on as long as values come out unchanged, so the odd ones (nought, negative numbers,
/// spaces around text) meet only getters that hand their value through.
struct KeyPathSamples {
  /// The type of the key path's value, without optionals.
  let wanted: Any.Type
  private let round: Int
  /// A raw value that the wanted type has a case for.
  private let raw: PredicateValue?

  private static let integers: [Int64] = [101, 53, 0, -53]
  private static let doubles: [Double] = [101.5, 53.25, 0, -53.25]
  private static let texts: [String] = ["aB", "bA", " aB c"]

  /// One trial each; nil when nothing can be made up for a type with raw values.
  static func rounds(for wanted: Any.Type) -> [KeyPathSamples]? {
    if let type = wanted as? any RawRepresentable.Type {
      let raws: [PredicateValue] = Array(rawValues(of: type).prefix(4))
      return raws.isEmpty
        ? nil
        : raws.indices.map { KeyPathSamples(wanted: wanted, round: $0, raw: raws[$0]) }
    }
    let isUnsigned: Bool = (wanted as? any FixedWidthInteger.Type).map { !$0.isSigned } ?? false
    return (0..<(isUnsigned ? 3 : 4)).map { KeyPathSamples(wanted: wanted, round: $0, raw: nil) }
  }

  /// The value for an accessor of this type, nil when there is none to make up.
  func value<Value>() -> Value? {
    if let raw = raw?.anyValue {
      if let raw = raw as? Value { return raw }
      if let number = raw as? any BinaryInteger, Value.self == Int64.self { return Int64(number) as? Value }
    }
    return sample(of: Value.self) as? Value
  }

  /// The value for key-value coding: numbers as `NSNumber`.
  func keyValue() -> Any? {
    let value: Any? = raw?.anyValue ?? sample(of: wanted)
    switch value {
    case let flag as Bool where wanted == Bool.self: return NSNumber(value: flag)
    case let number as any BinaryInteger: return NSNumber(value: Int64(number))
    case let number as any BinaryFloatingPoint: return NSNumber(value: Double(number))
    default: return value
    }
  }

  private func sample(of type: Any.Type) -> Any? {
    let double: Double = Self.doubles[round]
    if type == Bool.self { return round % 2 == 0 }
    if type is any FixedWidthInteger.Type { return Self.integers[round] }
    if type is any BinaryFloatingPoint.Type { return double }
    if type == String.self { return Self.texts[round % Self.texts.count] }
    if type == Date.self { return Date(timeIntervalSinceReferenceDate: double) }
    if type == Decimal.self { return Decimal(double) }
    if type == NSDecimalNumber.self { return NSDecimalNumber(decimal: Decimal(double)) }
    if type == NSNumber.self { return NSNumber(value: double) }
    if type == Data.self { return Data([1, 2, UInt8(round)]) }
    if type == UUID.self { return UUID(uuid: (9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(round))) }
    if type == URL.self { return URL(string: "scheme://host/\(round)") }
    if let type = type as? any SampledCollection.Type { return type.holdingSample { member(of: $0) } }
    return nil
  }

  /// The same as a member of a collection, where a number has its very type.
  private func member(of type: Any.Type) -> Any? {
    switch (sample(of: type), type) {
    case (let number as Int64, let type as any FixedWidthInteger.Type):
      Self.exactly(Int(number), type) ?? Self.exactly(Int(number.magnitude), type)
    case (let number as Double, let type as any BinaryFloatingPoint.Type): Self.rounded(number, type)
    case (let value, _): value
    }
  }

  private static func rounded<Number: BinaryFloatingPoint>(_ value: Double, _ type: Number.Type) -> Any {
    Number(value)
  }

  // MARK: Raw values

  /// Raw values that have a case: of types that list their cases from the list, else by trying.
  private static func rawValues<Type: RawRepresentable>(of type: Type.Type) -> [PredicateValue] {
    let raws: [Any]
    if let listed = type as? any CaseIterable.Type {
      raws = cases(of: listed).compactMap { rawValue(of: $0) }
    } else if let number = Type.RawValue.self as? any FixedWidthInteger.Type {
      raws = (0..<128).compactMap { exactly($0, number) as? Type.RawValue }.filter {
        Type(rawValue: $0) != nil
      }
    } else {
      raws = texts.compactMap { $0 as? Type.RawValue }.filter { Type(rawValue: $0) != nil }
    }
    return raws.map { PredicateValue(normalizing: $0) }
  }

  private static func cases<Type: CaseIterable>(of type: Type.Type) -> [Any] {
    type.allCases.map { $0 as Any }
  }

  private static func exactly<Number: FixedWidthInteger>(_ value: Int, _ type: Number.Type) -> Any? {
    Number(exactly: value)
  }

  /// The raw value of a value that has one; any other as it is.
  static func rawValue(of value: Any?) -> Any? {
    guard let value = value as? any RawRepresentable else { return value }
    return raw(value)
  }

  private static func raw(_ value: some RawRepresentable) -> Any { value.rawValue }

  /// The type inside optionals.
  static func unwrapped(_ type: Any.Type) -> Any.Type {
    (type as? any OptionalType.Type).map { unwrapped($0.wrappedType) } ?? type
  }
}

/// Collections of a made-up member, as transformable attributes hold them; nil when there is no member to make up.
private protocol SampledCollection {
  static func holdingSample(_ sample: (Any.Type) -> Any?) -> Any?
}

extension Array: SampledCollection {
  fileprivate static func holdingSample(_ sample: (Any.Type) -> Any?) -> Any? {
    (sample(Element.self) as? Element).map { [$0] }
  }
}

extension Set: SampledCollection {
  fileprivate static func holdingSample(_ sample: (Any.Type) -> Any?) -> Any? {
    (sample(Element.self) as? Element).map { [$0] as Set }
  }
}

extension Dictionary: SampledCollection {
  fileprivate static func holdingSample(_ sample: (Any.Type) -> Any?) -> Any? {
    guard let key = sample(Key.self) as? Key, let value = sample(Value.self) as? Value else { return nil }
    return [key: value]
  }
}

private protocol OptionalType {
  static var wrappedType: Any.Type { get }
}

extension Optional: OptionalType {
  fileprivate static var wrappedType: Any.Type { Wrapped.self }
}
