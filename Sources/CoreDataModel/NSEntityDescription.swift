import CoreDataPredicates
import Foundation
import Synchronization

/// An entity: a class of objects, their properties, and their place in a hierarchy.
///
/// Thread use and ownership are those of ``NSPropertyDescription``.
nonisolated open class NSEntityDescription: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because with `isFrozen` every setter stops the program once a coordinator shares the model
  // between queues; until then the model belongs to the code that builds it. The look-up tables are written
  // by `freeze` only.

  final package internal(set) var isFrozen = false

  public override init() {
    super.init()
  }

  // MARK: Coding

  open class var supportsSecureCoding: Bool { true }

  /// Encodes the entity with its model, or without one with all that it refers to. Entities of one model that
  /// one archiver encodes are of one model again when they are decoded. Clarus reads the archive, Apple's
  /// framework does not: to exchange models write files. Fails the coder for an entity without a name, and
  /// where a part has no archived form.
  open func encode(with coder: NSCoder) {
    DescriptionCoding.encode(self, with: coder)
  }

  /// Reads what ``encode(with:)`` wrote: the entity, in a model of its own that may be changed. Nil and an
  /// error in the coder for anything else.
  public required init?(coder: NSCoder) {
    super.init()
    guard let origin = DescriptionCoding.origin(coder) else { return nil }
    takePlace(of: origin.entity)
  }

  // Only a model that one piece of code builds is changed, so accesses do not overlap.
  @exclusivity(unchecked) open var name: String? {
    willSet { mayChange() }
    didSet { if name != oldValue { model?.rename(oldValue, to: name) } }
  }

  /// The class of the objects, `NSManagedObject` unless set. May carry a module (`App.Person`) or stand for
  /// the program's own module (`.Person`).
  open var managedObjectClassName: String! {
    get { storedClassName ?? "NSManagedObject" }
    set {
      mayChange()
      storedClassName = newValue
    }
  }
  final var storedClassName: String?

  /// Whether only sub-entities have objects.
  open var isAbstract: Bool = false { willSet { mayChange() } }

  /// The model that holds the entity. Stops the program if there is none yet: add the entity to a model's
  /// `entities` first.
  public final var managedObjectModel: NSManagedObjectModel {
    guard let model else {
      preconditionFailure(
        "Entity '\(name ?? "")' belongs to no model; add it to the entities of an NSManagedObjectModel first."
      )
    }
    return model
  }

  /// The model that holds the entity, nil before it was added to one.
  package final internal(set) var model: NSManagedObjectModel?

  /// Data that the object graph derives from the entity once. Set under a lock of the graph, and read by any
  /// thread without it: for each new object.
  package final var runtimeStorage: AnyObject? {
    get {
      publishedRuntime.load(ordering: .acquiring).map {
        Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
      }
    }
    set {
      storedRuntime = newValue
      publishedRuntime.store(
        newValue.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }, ordering: .releasing)
    }
  }
  /// Retains what `publishedRuntime` points to.
  private final var storedRuntime: AnyObject?
  private final let publishedRuntime = Atomic<UnsafeRawPointer?>(nil)

  // MARK: Hierarchy

  /// The parent, nil for a root.
  public final internal(set) var superentity: NSEntityDescription?

  /// The children. Setting them sets their ``superentity``.
  open var subentities: [NSEntityDescription] {
    get { storedSubentities }
    set {
      mayChange()
      for old in storedSubentities where old.superentity === self { old.superentity = nil }
      for child in newValue {
        var ancestor: NSEntityDescription? = self
        while let current = ancestor {
          precondition(
            current !== child,
            "Entity '\(child.name ?? "")' can't become a sub-entity of its own descendant '\(name ?? "")'.")
          ancestor = current.superentity
        }
        if let old = child.superentity, old !== self {
          old.storedSubentities.removeAll { $0 === child }
        }
        child.superentity = self
      }
      storedSubentities = newValue
    }
  }
  package internal(set) final var storedSubentities: [NSEntityDescription] = []

  open var subentitiesByName: [String: NSEntityDescription] {
    Dictionary(storedSubentities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether the entity is `entity` or has it among its ancestors.
  open func isKindOf(entity: NSEntityDescription) -> Bool {
    var current: NSEntityDescription? = self
    while let candidate = current {
      if candidate === entity { return true }
      current = candidate.superentity
    }
    return false
  }

  /// The entity and its descendants, children by name ignoring case, each followed by its own children: the
  /// order in which a SQLite store numbers entities.
  package final var familyInStoreOrder: [NSEntityDescription] {
    [self] + NSEntityDescription.inStoreOrder(storedSubentities).flatMap(\.familyInStoreOrder)
  }

  package static func inStoreOrder(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
    entities.map { (($0.name ?? "").uppercased(), $0.name ?? "", $0) }
      .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
      .map(\.2)
  }

  // MARK: Properties

  /// The properties declared here and those inherited. Set only those declared here; inherited ones in a new
  /// value stay with their owner, so `entity.properties.append(p)` works for a sub-entity too.
  open var properties: [NSPropertyDescription] {
    get {
      if let frozenTables { return frozenTables.properties }
      guard let superentity else { return ownProperties }
      let own = Set(ownProperties.map(\.name))
      return superentity.properties.filter { !own.contains($0.name) } + ownProperties
    }
    set {
      mayChange()
      var inherited: Set<ObjectIdentifier> = []
      var ancestor = superentity
      while let current = ancestor {
        inherited.formUnion(current.ownProperties.map(ObjectIdentifier.init))
        ancestor = current.superentity
      }
      for old in ownProperties where old.declaringEntity === self { old.declaringEntity = nil }
      ownProperties = newValue.filter { !inherited.contains(ObjectIdentifier($0)) }
      for property in ownProperties { property.declaringEntity = self }
    }
  }

  /// The properties declared by this entity itself, in the order they were given.
  package final internal(set) var ownProperties: [NSPropertyDescription] = []

  /// Look-up tables, made once when the model freezes.
  struct Tables {
    var properties: [NSPropertyDescription]
    var propertiesByName: [String: NSPropertyDescription]
    var attributesByName: [String: NSAttributeDescription]
    var relationshipsByName: [String: NSRelationshipDescription]
  }
  final var frozenTables: Tables?
  final var frozenHashes: (version: Data, structure: Data)?
  /// The hash that Apple's tools computed for the entity, where it can't be computed here.
  final var recordedHash: RecordedHash?

  /// The properties by name, inherited ones included. Built anew on each call until the model is in use.
  open var propertiesByName: [String: NSPropertyDescription] {
    frozenTables?.propertiesByName
      ?? Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  open var attributesByName: [String: NSAttributeDescription] {
    frozenTables?.attributesByName
      ?? propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
  }

  open var relationshipsByName: [String: NSRelationshipDescription] {
    frozenTables?.relationshipsByName
      ?? propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
  }

  /// The relationships that lead to `entity`, inherited ones included.
  open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
    properties.compactMap { $0 as? NSRelationshipDescription }.filter { $0.destinationEntity === entity }
  }

  /// The property that an entity inherits under the name of one of its own of another kind or type: such as
  /// an attribute of the name of its parent's relationship. Their values share one place, so that no object
  /// can be used.
  package final func otherKind(of own: NSPropertyDescription) -> NSPropertyDescription? {
    guard let inherited = superentity?.propertiesByName[own.name] else { return nil }
    if let own = own as? NSAttributeDescription, let inherited = inherited as? NSAttributeDescription {
      return own.attributeType == inherited.attributeType ? nil : inherited
    }
    return type(of: own) == type(of: inherited) ? nil : inherited
  }

  /// A sentence about a property of the entity of which that is so; nil if there is none.
  package final var mixedKinds: String? {
    ownProperties.first { otherKind(of: $0) != nil }.map { own in
      "'\(own.name)' of the entity '\(name ?? "")' is of another kind or type than the property of that name that it "
        + "inherits."
    }
  }

  // MARK: Constraints and indexes

  /// Groups of attributes (names or descriptions) whose combined values must be unique. Own ones only.
  open var uniquenessConstraints: [[Any]] = [] { willSet { mayChange() } }

  /// ``uniquenessConstraints`` as names, without empty ones: by those all rows would be equal.
  package final var uniquenessConstraintNames: [[String]] {
    NSEntityDescription.names(uniquenessConstraints).filter { !$0.isEmpty }
  }

  /// The old form of indexes over several properties (names or descriptions).
  open var compoundIndexes: [[Any]] = [] { willSet { mayChange() } }

  package final var compoundIndexNames: [[String]] {
    NSEntityDescription.names(compoundIndexes)
  }

  private static func names(_ groups: [[Any]]) -> [[String]] {
    groups.map { group in
      group.compactMap { ($0 as? NSPropertyDescription)?.name ?? ($0 as? String) }
    }
  }

  /// The indexes declared here.
  open var indexes: [NSFetchIndexDescription] = [] {
    willSet { mayChange() }
    didSet { for index in indexes { index.entity = self } }
  }

  // MARK: Versions and notes

  /// The name the entity had in earlier versions; the current name unless set.
  open var renamingIdentifier: String? {
    get { storedRenamingIdentifier ?? name }
    set {
      mayChange()
      storedRenamingIdentifier = newValue
    }
  }
  final var storedRenamingIdentifier: String?

  /// Text that enters the version hash, to tell apart versions that differ in nothing else the hash covers.
  open var versionHashModifier: String? { willSet { mayChange() } }

  /// The program's own values. Empty, not nil, unless set, as Apple's: `description.userInfo?["key"] = value`
  /// adds one.
  ///
  /// May be set while the model is in use, since no version hash has it, but not while another thread reads
  /// it. What the framework itself reads from it (an attribute that keeps exact decimals) is read when the
  /// model is first used.
  // Stored, so that predicates can read it: `$FETCHED_PROPERTY.userInfo.key`.
  open var userInfo: [AnyHashable: Any]? = [:]

  /// Kept for source compatibility; there is no Spotlight off Apple's platforms and model files don't carry
  /// it.
  open var coreSpotlightDisplayNameExpression: CoreDataPredicates.NSExpression! { willSet { mayChange() } }

  /// The code generation of a source model: `class`, `category`, `none`; nil means `none`.
  package final var codeGenerationType: String? { willSet { mayChange() } }

  // MARK: Freezing

  final func mayChange() {
    requireEditable(isFrozen, "Entity '\(name ?? "")'")
  }

  final func freezeContents() {
    let all = properties
    let byName = propertiesByName
    frozenTables = Tables(
      properties: all, propertiesByName: byName,
      attributesByName: byName.compactMapValues { $0 as? NSAttributeDescription },
      relationshipsByName: byName.compactMapValues { $0 as? NSRelationshipDescription })
    frozenHashes = (versionHash, structureHash)
    for property in ownProperties { property.freezeContents() }
    for index in indexes { index.freezeContents() }
    isFrozen = true
  }

  // MARK: Copying and comparing

  final func copyContents(into other: NSEntityDescription) {
    other.name = name
    other.storedClassName = storedClassName
    other.isAbstract = isAbstract
    other.uniquenessConstraints = uniquenessConstraintNames
    other.compoundIndexes = compoundIndexNames
    other.storedRenamingIdentifier = storedRenamingIdentifier
    other.versionHashModifier = versionHashModifier
    other.recordedHash = recordedHash
    other.userInfo = userInfo
    other.codeGenerationType = codeGenerationType
    other.coreSpotlightDisplayNameExpression = coreSpotlightDisplayNameExpression
    other.properties = ownProperties.map { $0.copy() as! NSPropertyDescription }
    other.indexes = indexes.map { index in
      let copy = index.copy() as! NSFetchIndexDescription
      // Elements of the copy must refer to the copy's properties.
      copy.elements = index.elements.map { element in
        guard let name = element.propertyName, element.storedProperty == nil || propertiesByName[name] != nil
        else { return element.copy() as! NSFetchIndexElementDescription }
        let twin = NSFetchIndexElementDescription(propertyName: name, collationType: element.collationType)
        twin.isAscending = element.isAscending
        return twin
      }
      return copy
    }
  }

  /// An editable copy with copies of its own properties. It belongs to no model and has no parent or
  /// children; copy the whole model to keep the hierarchy.
  open func copy(with zone: NSZone? = nil) -> Any {
    let other = NSEntityDescription()
    copyContents(into: other)
    return other
  }

  open override func copy() -> Any {
    copy(with: nil)
  }

  /// Entities are equal by content; other entities (parent, destinations) are compared by name.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSEntityDescription else { return false }
    return self === other || ModelComparison.differences(self, other).isEmpty
  }

  open override var hash: Int {
    name.hashValue
  }

  open override var description: String {
    "entity '\(name ?? "")'"
  }
}
