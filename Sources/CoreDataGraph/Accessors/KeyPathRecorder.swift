import CoreDataModel
import CoreDataPredicates
import CoreDataRuntime
import CoreDataStorage
import Foundation

// How the name of `\Item.title` is found. Managed properties are computed, and key paths of computed
// properties have no name off Apple's platforms. So the getter is run on a recording instance of the class:
// an object whose accessors record the keys that are read and return sample values. If exactly one key was
// read and its value is the getter's result, in two or more runs with different values, that key is the name.
// A to-one relationship returns another recording instance: `\Item.category?.name` is `category.name`.
//
//     \Item.title          managedValue("title") → "aB"         result "aB"            title
//     \Item.category?.name managedObject("category") → recorder → managedValue("name")  category.name
//     \Item.fullTitle      managedValue("title") → "aB"         result "aB, today"     no name
//
// A recording instance stays a fault, so accessors of ordinary objects cost nothing more: only the code path
// that loads a fault checks whether there is a recorder. The instance belongs to the thread that runs the
// getter, and to no context.

/// The keys that were read from one recording instance.
final class KeyPathRecorder {
  /// The value that was returned for a key.
  enum Answer {
    case value(PredicateValue)
    /// The recording instance of a to-one relationship's target.
    case target(NSManagedObject)
    /// The recording instance that is the one member of a to-many relationship.
    case member(NSManagedObject)
    /// nil, because no sample value of that type can be made.
    case nothing(Any.Type)
  }

  private(set) var notes: [(key: String, answer: Answer)] = []
  private let samples: KeyPathSamples
  /// The class's entity in a model in use, if there is one: it determines what key-value coding returns for a
  /// key.
  private let described: EntityRuntime?

  init(_ samples: KeyPathSamples, of type: NSManagedObject.Type) {
    self.samples = samples
    described = ModelRuntime.entities(of: type).first
  }

  private func note(_ key: String, _ answer: Answer) {
    if !notes.contains(where: { $0.key == key }) { notes.append((key, answer)) }
  }

  // MARK: Accessors

  /// A sample value for an accessor of this type.
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

  /// A case of an enumeration, for an accessor of that type: the one of the sample's raw value, or else any.
  func rawRepresentable<Value: RawRepresentable>(_ key: String) -> Value? {
    guard let value: Value = samples.rawRepresentable() else {
      note(key, .nothing(Value.self))
      return nil
    }
    note(key, .value(PredicateValue(normalizing: value.rawValue)))
    return value
  }

  /// A value for an accessor of any type: an object, members, or a value.
  func anything<Value>(_ key: String) -> Value? {
    if let type = Value.self as? NSManagedObject.Type { return instance(key, type, Answer.target) as? Value }
    if let type = Value.self as? any ManagedMembers.Type {
      return type.holding(instance(key, type.memberType, Answer.member)) as? Value
    }
    return value(key)
  }

  /// The same for key-value coding, where the model determines the type, or else the key path.
  func anyValue(_ key: String) -> Any? {
    let slot: PropertySlot? = described.flatMap { entity in
      entity.layout.slotByName[key].map { entity.layout.slots[$0] }
    }
    if let slot, let relationship = slot.relationship, let destination = slot.destination,
      let type = described?.model.entities[destination].objectClass
    {
      if !relationship.isToMany { return instance(key, wantedClass ?? type, Answer.target) }
      let member: NSManagedObject = instance(key, wantedMembers?.memberType ?? type, Answer.member)
      return relationship.isOrdered ? NSOrderedSet(object: member) : NSSet(object: member)
    }
    if let type = wantedClass { return instance(key, type, Answer.target) }
    if let type = wantedMembers { return type.holding(instance(key, type.memberType, Answer.member)) }
    guard let value = samples.keyValue(of: slot?.attribute?.attributeType) else {
      note(key, .nothing(Any.self))
      return nil
    }
    note(key, .value(PredicateValue(normalizing: value)))
    return value
  }

  private var wantedClass: NSManagedObject.Type? { samples.wanted as? NSManagedObject.Type }
  private var wantedMembers: (any ManagedMembers.Type)? { samples.wanted as? any ManagedMembers.Type }

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

  /// A recording instance. Its initialiser may be the program's own.
  static func makeInstance(_ type: NSManagedObject.Type, _ samples: KeyPathSamples) -> NSManagedObject {
    let model: ModelRuntime = .recording
    let entity = NSEntityDescription()
    entity.runtimeStorage = EntityRuntime(
      model: model, layout: model.layout.entities[0], recorder: KeyPathRecorder(samples, of: type))
    let object: NSManagedObject = type.init(NewManagedObject(entity, nil))
    object.insertFlags(.fault)
    return object
  }
}

/// Collections of managed objects, as properties declare them.
protocol ManagedMembers {
  static var memberType: NSManagedObject.Type { get }
  static var isOrdered: Bool { get }
  static func holding(_ member: NSManagedObject) -> Any
}

extension Set: ManagedMembers where Element: NSManagedObject {
  static var isOrdered: Bool { false }
  static var memberType: NSManagedObject.Type { Element.self }
  static func holding(_ member: NSManagedObject) -> Any { NSSet(object: member) }
}

extension Array: ManagedMembers where Element: NSManagedObject {
  static var isOrdered: Bool { true }
  static var memberType: NSManagedObject.Type { Element.self }
  static func holding(_ member: NSManagedObject) -> Any { NSArray(object: member) }
}

extension NSSet: ManagedMembers {
  static var isOrdered: Bool { false }
  static var memberType: NSManagedObject.Type { NSManagedObject.self }
  static func holding(_ member: NSManagedObject) -> Any { NSSet(object: member) }
}

extension NSOrderedSet: ManagedMembers {
  static var isOrdered: Bool { true }
  static var memberType: NSManagedObject.Type { NSManagedObject.self }
  static func holding(_ member: NSManagedObject) -> Any { NSOrderedSet(object: member) }
}

extension ModelRuntime {
  /// The model of recording instances: one entity, whose one property accepts whatever setters write.
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
    // A getter that receives sample collections may stop if it uses a subscript, and a path through them has
    // no name anyway.
    if TypeSearch.isSupported, let passed = keyPath.passedValues.first(where: { !ClassNames.isManaged($0) }) {
      return .unnamed("it goes through a value of type \(passed), which is no managed object")
    }
    let wanted: Any.Type = KeyPathSamples.unwrapped(type(of: keyPath).valueType)
    var name: String?
    guard let rounds = KeyPathSamples.rounds(for: wanted) else {
      return .unnamed("its type \(wanted) can't be tried out, unless it is CaseIterable")
    }
    for samples in rounds {
      let object: NSManagedObject = KeyPathRecorder.makeInstance(self, samples)
      let result: Any? = SlotValue.unwrapped((object as Any)[keyPath: keyPath])
      switch KeyPathSampleRun(wanted: wanted, result: result).evaluate(object) {
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

/// Compares the result of a getter with the sample values it has read.
private struct KeyPathSampleRun {
  let wanted: Any.Type
  let result: Any?

  func evaluate(_ object: NSManagedObject) -> KeyPathName {
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
      switch evaluate(target) {
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
