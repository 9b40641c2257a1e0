import CoreDataModel
import CoreDataPredicates
import CoreDataRuntime
import CoreDataStorage
import Foundation

/// A model as the object graph uses it: layouts plus classes and starting values. One for each model, made on
/// first use.
final class ModelRuntime: @unchecked Sendable {
  // Sendable: immutable after init.

  let layout: ModelLayout
  /// Distinguishes models in the slot caches of `ManagedKey`; never 0.
  let serial: UInt32
  private(set) var entities: [EntityRuntime] = []
  private(set) var byClass: [ObjectIdentifier: [EntityRuntime]] = [:]
  /// Whether a class of the model has accessors of its own, or overrides `value(forKey:)`.
  private(set) var hasAccessors: Bool = false
  /// Whether a save may round an attribute's value.
  private(set) var hasRoundedDecimals: Bool = false
  /// Whether `objectID` may be the name of a property.
  let hasObjectIDs: Bool

  private init(model: NSManagedObjectModel) {
    layout = ModelLayout(model: model)
    hasObjectIDs = layout.entities.contains { $0.slotByName["objectID"] != nil }
    serial = ModelRuntime.registry.withLock { registry in
      registry.nextSerial += 1
      return registry.nextSerial
    }
    entities = layout.entities.map { EntityRuntime(model: self, layout: $0) }
    hasAccessors = entities.contains { $0.accessors != nil || $0.overridesValueForKey }
    hasRoundedDecimals = entities.contains { entity in
      (0..<entity.slotCount).contains { entity.compactSlots[$0].isRounded }
    }
    for runtime in entities {
      byClass[ObjectIdentifier(runtime.objectClass), default: []].append(runtime)
    }
  }

  /// A runtime that `entity()` of classes does not find.
  static func unlisted(_ model: NSManagedObjectModel) -> ModelRuntime { ModelRuntime(model: model) }

  /// Whether reading an object by key can return something else than a store has.
  var readsMayDiffer: Bool { hasAccessors || hasRoundedDecimals }

  func runtime(named name: String) -> EntityRuntime? {
    layout.byName[name].map { entities[$0.index] }
  }

  /// The runtime of one of the model's own entities; nil for an entity of another model.
  func ownRuntime(of entity: NSEntityDescription) -> EntityRuntime? {
    guard let made = entity.runtimeStorage.map({ unsafeDowncast($0, to: EntityRuntime.self) }),
      made.modelSerial == UInt64(serial)
    else { return nil }
    return made
  }

  // MARK: One per model

  private struct Weak { weak var runtime: ModelRuntime? }

  private struct Registry {
    var nextSerial: UInt32 = 0
    /// Models in use, oldest first, for `entity()` and `fetchRequest()` of classes, which do not name a
    /// model.
    var live: [Weak] = []
    /// How many there may be until those that are gone are removed.
    var pruningCount: Int = 64
  }

  private static let registry = Guarded(Registry())
  /// Guards `runtimeStorage` of models and entities.
  private static let making = NSLock()

  static func of(_ model: NSManagedObjectModel) -> ModelRuntime {
    if let type = ThreadLocalState.ofThisThread.listingClass {
      fatalError(
        "\(type).customAccessors used a model while one was being prepared: name key paths in it, and do nothing else."
      )
    }
    making.lock()
    defer { making.unlock() }
    if let made = model.runtimeStorage as? ModelRuntime { return made }
    let runtime = ModelRuntime(model: model)
    for entity in runtime.entities { entity.layout.entity.runtimeStorage = entity }
    model.runtimeStorage = runtime
    registry.withLock { registry in
      // Seldom: a program that makes thousands of models would else examine all of them for each.
      if registry.live.count >= registry.pruningCount {
        registry.live.removeAll { $0.runtime == nil }
        registry.pruningCount = max(64, 2 * registry.live.count)
      }
      registry.live.append(Weak(runtime: runtime))
    }
    return runtime
  }

  /// The entities of a class in the models in use, newest model first.
  static func entities(of objectClass: AnyClass) -> [EntityRuntime] {
    let live: [ModelRuntime] = registry.withLock { $0.live.compactMap(\.runtime) }
    return live.reversed().flatMap { $0.byClass[ObjectIdentifier(objectClass)] ?? [] }
  }

  /// The single entity of a class: in the model of the context whose block is running, if that has one;
  /// otherwise in the models in use, as the newest describes it. If several models describe it differently
  /// the choice is a guess, which is reported once.
  static func entity(of objectClass: AnyClass) throws -> EntityRuntime {
    let found: [EntityRuntime] = try candidates(for: objectClass)
    if let other = found.first(where: {
      $0.layout.entity.structureHash != found[0].layout.entity.structureHash
    }) {
      AmbiguousClass.report(objectClass, found[0], other)
    }
    return found[0]
  }

  /// Runs code that calls a class's `entity()` but needs only the name, which is unambiguous: the context
  /// that executes a request looks the entity up in its own model.
  static func forName<T>(_ body: () -> T) -> T {
    ThreadLocalState.ofThisThread.with(\.needsNameOnly, true, body)
  }

  /// A request by the name of the class's entity, so that the context that executes it looks the entity up in
  /// its own model. For a class without an entity, or with several, a request without one, which is refused
  /// unless it is given one.
  static func request<Result>(of objectClass: NSManagedObject.Type) -> NSFetchRequest<Result> {
    if let name = forName({ objectClass.entity().name }) { return NSFetchRequest(entityName: name) }
    if entities(of: objectClass).isEmpty {
      AmbiguousClass.report(objectClass, "\(GraphError.noEntity(of: "\(objectClass)"))")
    }
    return NSFetchRequest()
  }

  /// The entities of one name that a class may have, at least one.
  private static func candidates(for objectClass: AnyClass) throws -> [EntityRuntime] {
    let here: ModelRuntime? = RunningBlock.context?.persistentStoreCoordinator?.runtime
    var found: [EntityRuntime] = here?.byClass[ObjectIdentifier(objectClass)] ?? []
    if found.isEmpty { found = entities(of: objectClass) }
    guard !found.isEmpty else { throw GraphError.noEntity(of: "\(objectClass)") }
    let names: Set<String> = Set(found.map(\.layout.name))
    guard names.count == 1 else {
      throw GraphError.severalEntities(names.sorted(), of: TypeSearch.qualifiedName(of: objectClass))
    }
    return found
  }
}

/// Reports ambiguous entities of a class, once.
enum AmbiguousClass {
  private static let reported = Guarded<Set<String>>([])

  static func report(_ objectClass: AnyClass, _ text: String) {
    guard reported.withLock({ $0.insert("\(ObjectIdentifier(objectClass)) \(text)").inserted }) else {
      return
    }
    Warning.write(text)
  }

  /// Two models in use describe the entity differently.
  static func report(_ objectClass: AnyClass, _ taken: EntityRuntime, _ other: EntityRuntime) {
    if ThreadLocalState.ofThisThread.needsNameOnly { return }
    report(
      objectClass,
      """
      the class \(objectClass) stands for the entity '\(taken.layout.name)' in two models in use that describe it differently: \
      \(describe(taken)), and \(describe(other)). \(objectClass).entity() takes the first, the newest. Call it in a block of the \
      context concerned, or use NSEntityDescription.entity(forEntityName:in:); init(context:) and fetchRequest() need neither.
      """)
  }

  private static func describe(_ runtime: EntityRuntime) -> String {
    let model: NSManagedObjectModel = runtime.layout.entity.managedObjectModel
    let names: [String] = model.versionIdentifiers.map { "\($0)" }.sorted()
    let properties: String = runtime.layout.slots.map(\.name).sorted().joined(separator: ", ")
    return
      "model \(names.isEmpty ? "" : "'\(names.joined(separator: "', '"))' ")with checksum \(model.versionChecksum) (\(properties))"
  }
}

/// A message for the program's author where nothing can be thrown.
package enum Warning {
  /// False in tools that open the stores of any program: there a class that is missing is no mistake. Set
  /// before other threads exist, and never again.
  nonisolated(unsafe) package static var tellsMissingClasses: Bool = true

  private static let written = Guarded<Set<String>>([])

  /// Writes a text that this process has not written yet: a program may load a model many times.
  package static func writeOnce(_ text: String) {
    if written.withLock({ $0.insert(text).inserted }) { write(text) }
  }

  static func write(_ text: String) {
    FileHandle.standardError.write(Data("clarus: \(text)\n".utf8))
  }
}

/// The case of `SlotValue` of an attribute's values.
enum SlotForm: UInt8 {
  case integer, double
  /// A double that setters round.
  case float
  case string, other

  /// Whether the word of a row holds the bits of a double.
  @inline(__always)
  var isFloatingPoint: Bool { self == .double || self == .float }
}

/// A slot in a few bytes.
struct CompactSlot {
  enum Role: UInt8 {
    case attribute, toOne, toMany, transient, composite, other
  }

  /// The first word in the row, −1 for a slot without one.
  let word: Int32
  let kind: ColumnKind
  let role: Role
  /// The form of the values: what typed setters may store without a conversion, except for floats, and how a
  /// row's word is read.
  let form: SlotForm
  /// What validation must check in addition to the type.
  let isRequired: Bool
  let hasPredicates: Bool
  /// For a to-many relationship: whether the number of members is checked.
  let isCounted: Bool
  let isDerived: Bool
  /// An element of a composite attribute, which is checked as a whole.
  let isElement: Bool
  /// For a relationship: whether it has an inverse.
  let hasInverse: Bool
  let hasOrderedInverse: Bool
  /// A decimal that stores round as Apple's framework does, unless the store keeps all digits.
  let isRounded: Bool

  init(_ slot: PropertySlot) {
    hasPredicates = !slot.property.validationPredicates.isEmpty
    isRequired = !slot.property.isOptional
    isCounted = slot.relationship.map { $0.isToMany && ($0.minCount > 0 || $0.maxCount > 0) } ?? false
    isDerived = slot.isDerived
    isElement = slot.isElement
    hasInverse = slot.inverseSlot != nil
    hasOrderedInverse = slot.relationship?.inverseRelationship?.isOrdered == true
    isRounded = slot.isRoundedDecimal
    switch slot.role {
    case .stored(let kind, let word):
      self.word = Int32(word)
      self.kind = kind
      role = kind == .toOne ? .toOne : .attribute
      switch kind {
      case .int16, .int32, .int64, .bool: form = .integer
      case .double, .date: form = .double
      case .float: form = .float
      case .string: form = .string
      default: form = .other
      }
    case .toMany: (word, kind, role, form) = (-1, .toOne, .toMany, .other)
    case .transient: (word, kind, role, form) = (-1, .transformable, .transient, .other)
    case .composite: (word, kind, role, form) = (-1, .transformable, .composite, .other)
    case .fetched: (word, kind, role, form) = (-1, .transformable, .other, .other)
    }
  }
}

/// An entity as the object graph uses it.
final class EntityRuntime: ObjectHome, @unchecked Sendable {
  // Sendable: immutable after init, except for a recorder, which stays on the thread that created it.

  /// Alive as long as any of its entities is used: entities retain their model, and the model its runtime.
  unowned(unsafe) let model: ModelRuntime
  let layout: EntityLayout
  /// Whether the class overrides `validateValue(_:forKey:)`, so that a save calls it for every property.
  let validatesValues: Bool
  /// Whether the class overrides `value(forKey:)`, so that reads by key call it.
  let overridesValueForKey: Bool
  /// The shapes of predicates with the entity that were validated.
  let validatedShapes = ValidatedShapes()
  /// The class's own accessors, by key; nil for nearly all classes.
  let accessors: [String: CustomAccessor]?
  /// The slots of a new object: default values, null, and nothing for relationships.
  let template: [SlotValue]
  let slotCount: Int
  /// Slots of relationships, stored or not.
  let relationshipSlots: [Int]
  /// Those with the delete rule Deny.
  let denySlots: [Int]
  /// To-one relationships whose inverse is one too, with the inverse's slot: both rows hold a key.
  let oneToOneSlots: [(slot: Int, inverse: Int)]
  let storedAttributeSlots: [Int]
  /// Stored slots whose values go through value transformers.
  let transformableSlots: [Int]
  /// Set for recording instances, each of which has a separate runtime; see `KeyPathRecorder`.
  let recorder: KeyPathRecorder?

  init(model: ModelRuntime, layout: EntityLayout, recorder: KeyPathRecorder? = nil) {
    self.model = model
    self.recorder = recorder
    self.layout = layout
    let objectClass: NSManagedObject.Type = ClassResolver.objectClass(for: layout.entity)
    validatesValues = MethodOverride.ofValidation.isOverridden(by: objectClass)
    overridesValueForKey = MethodOverride.ofReading.isOverridden(by: objectClass)
    accessors = CustomAccessor.all(of: objectClass)
    template = layout.slots.map { slot in
      if slot.relationship != nil { return slot.isToOne ? .null : .unset }
      guard let attribute = slot.attribute else { return .unset }
      switch slot.role {
      case .stored(let kind, _): return .make(Self.defaultValue(of: slot, in: layout), kind: kind)
      case .transient:
        return SlotValue.unwrapped(attribute.defaultValue).map { .object(Box<Any>($0)) } ?? .null
      default: return .null
      }
    }
    slotCount = layout.slots.count
    relationshipSlots = layout.slots.indices.filter { layout.slots[$0].relationship != nil }
    denySlots = relationshipSlots.filter { layout.slots[$0].relationship?.deleteRule == .denyDeleteRule }
    oneToOneSlots = layout.slots.indices.compactMap { number in
      let slot: PropertySlot = layout.slots[number]
      // A model may name another inverse on the other side: to reconcile both sides would never end.
      guard slot.isToOne, let inverse = slot.inverseSlot,
        let other = slot.relationship?.inverseRelationship, !other.isToMany,
        other.inverseRelationship?.name == slot.name
      else { return nil }
      return (number, inverse)
    }
    storedAttributeSlots = layout.slots.indices.filter { number in
      guard case .stored(let kind, _) = layout.slots[number].role else { return false }
      return kind != .toOne
    }
    transformableSlots = layout.slots.indices.filter { number in
      if case .stored(.transformable, _) = layout.slots[number].role { return true }
      return false
    }
    super.init(
      entityItself: layout.entity,
      Self.facts(model, layout, objectClass, hasChecksOfClass: validatesValues || accessors != nil),
      objectClass)
  }

  deinit {
    compactSlots.deallocate()
    facts.deallocate()
  }

  private static func facts(
    _ model: ModelRuntime, _ layout: EntityLayout, _ objectClass: NSManagedObject.Type,
    hasChecksOfClass: Bool
  ) -> UnsafePointer<EntityFacts> {
    let slots: UnsafeMutablePointer<CompactSlot> = .allocate(capacity: max(1, layout.slots.count))
    for (number, slot) in layout.slots.enumerated() {
      (slots + number).initialize(to: CompactSlot(slot))
    }
    let made: UnsafeMutablePointer<EntityFacts> = .allocate(capacity: 1)
    made.initialize(
      to: EntityFacts(
        modelSerial: UInt64(model.serial), index: layout.index, rootIndex: layout.rootIndex,
        headerSize: layout.headerSize, slots: slots, slotCount: layout.slots.count,
        awakesFromFetch: MethodOverride.ofAwakening.isOverridden(by: objectClass),
        hasChecksOfClass: hasChecksOfClass,
        isAllInRow: (0..<layout.slots.count).allSatisfy {
          slots[$0].role == .attribute && slots[$0].kind != .transformable
        },
        isAbstract: layout.isAbstract))
    return UnsafePointer(made)
  }

  var modelSerial: UInt64 { facts.pointee.modelSerial }
  /// The entity's place in the model.
  var index: Int { facts.pointee.index }
  var headerSize: Int { facts.pointee.headerSize }
  /// For each slot the data that the hot paths need, without a reference to retain.
  var compactSlots: UnsafeMutablePointer<CompactSlot> { facts.pointee.slots }

  /// Whether the class of this entity, or of one of its sub-entities, has an accessor of its own for a key,
  /// or overrides `value(forKey:)`.
  func isCustom(_ key: String) -> Bool {
    layout.family.contains {
      model.entities[$0].overridesValueForKey || model.entities[$0].accessors?[key] != nil
    }
  }

  /// The default value of an element may be set by the composite attribute that contains it.
  private static func defaultValue(of slot: PropertySlot, in layout: EntityLayout) -> Any? {
    if let container = slot.container,
      let whole = defaultValue(of: layout.slots[container], in: layout) as? [String: Any],
      let value = whole[slot.property.name]
    {
      return value
    }
    return slot.attribute?.defaultValue
  }

  /// The entity in a context's model, for an object that is to be inserted there.
  func inModel(of context: NSManagedObjectContext) -> EntityRuntime {
    guard let wanted = context.persistentStoreCoordinator?.runtime else { return self }
    return inModel(
      wanted,
      advice:
        "Use init(context:), or the description that NSEntityDescription.entity(forEntityName:in:) gives for this context."
    )
  }

  /// The entity in another model. If two stacks have models that describe an entity alike, the description of
  /// either is accepted; any other is an entity that the context's stores do not have, and stops the program.
  func inModel(_ wanted: ModelRuntime, advice: String) -> EntityRuntime {
    if wanted === model { return self }
    let same: EntityRuntime? = wanted.runtime(named: layout.name)
    if let same, isInterchangeable(with: same) { return same }
    fatalError(
      """
      The entity '\(layout.name)' belongs to another model than the context's, which \
      \(same == nil ? "has no such entity" : "describes it differently"). \(advice)
      """)
  }

  /// Whether an object of this entity may become one of another: the same class and the same slots.
  private func isInterchangeable(with other: EntityRuntime) -> Bool {
    other.objectClass == objectClass && other.layout.entity.structureHash == layout.entity.structureHash
      && other.layout.slots.map(\.name) == layout.slots.map(\.name)
  }

  static func of(_ entity: NSEntityDescription) -> EntityRuntime {
    if let made = entity.runtimeStorage { return unsafeDowncast(made, to: EntityRuntime.self) }
    let model: NSManagedObjectModel = entity.managedObjectModel
    let runtime = ModelRuntime.of(model)
    guard let made = entity.runtimeStorage as? EntityRuntime else {
      fatalError(
        """
        Entity '\(entity.name ?? "")' is not among the entities of its model \
        (\(runtime.layout.entities.map(\.name).joined(separator: ", "))); add it to the model's entities first.
        """)
    }
    return made
  }
}

/// Finds the class of an entity's objects.
enum ClassResolver {
  /// `Module.Class` is looked up unchanged; `Class` and `.Class` (the program's own module) among all classes
  /// of the process. A name that is not found yields `NSManagedObject`, with a warning, as in Apple's
  /// framework: tools without the program's classes can still use its objects.
  static func objectClass(for entity: NSEntityDescription) -> NSManagedObject.Type {
    if entity.managedObjectModel.makesPlainObjects { return NSManagedObject.self }
    let written: String = entity.managedObjectClassName
    let name: String = written.hasPrefix(".") ? String(written.dropFirst()) : written
    if name.isEmpty || name == "NSManagedObject" { return NSManagedObject.self }
    if let given = ClassNames.type(named: name) { return given }
    if let found = NSClassFromString(name) as? NSManagedObject.Type { return found }
    let bare: String = name.split(separator: ".").last.map(String.init) ?? name
    let found = TypeSearch.classes(named: bare, subclassOf: NSManagedObject.self)
    switch found.count {
    case 0:
      let aliases = TypeSearch.classes(named: bare, subclassOf: ManagedClassAlias.self)
        .compactMap { $0.type as? ManagedClassAlias.Type }.map(\.original)
      if aliases.count == 1 { return aliases[0] }
      if aliases.count > 1 {
        fatalError(
          """
          Entity '\(entity.name ?? "")' names class '\(written)', and there are \(aliases.count) classes with an alias of \
          that name: \(aliases.map { "\($0)" }.sorted().joined(separator: ", ")). Write the class's own name into the model.
          """)
      }
      guard Warning.tellsMissingClasses else { return NSManagedObject.self }
      Warning.writeOnce(
        """
        no class '\(written)' for entity '\(entity.name ?? "")' in this process; \
        its objects are plain NSManagedObject.\
        \(TypeSearch.isSupported ? "" : " Classes can't be searched here: write the module before the name.")
        """)
      return NSManagedObject.self
    case 1:
      if let type = found[0].type as? NSManagedObject.Type { return type }
      return NSManagedObject.self
    default:
      // Two modules have a class of that name: choosing one would be a guess.
      let preferred = found.first { $0.qualifiedName == name }
      if let type = preferred?.type as? NSManagedObject.Type { return type }
      fatalError(
        """
        Entity '\(entity.name ?? "")' names class '\(written)', and there are \(found.count) of that name: \
        \(found.map(\.qualifiedName).sorted().joined(separator: ", ")). Write the module into the model's class name.
        """)
    }
  }
}
