import Foundation

/// The superclass of attributes, relationships, fetched properties and computed columns.
///
/// Thread use: a description may be changed by one thread at a time until a persistent store coordinator uses
/// its model; from then on it is frozen and may be read from every thread. References within a model (entity
/// to property, relationship to destination and inverse) are strong in both directions, so a model lives as
/// long as any part of it.
nonisolated open class NSPropertyDescription: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because with `isFrozen` every setter stops the program once a coordinator shares the model
  // between queues; until then the model belongs to the code that builds it.

  final package internal(set) var isFrozen = false

  public override init() {
    super.init()
  }

  // MARK: Coding

  open class var supportsSecureCoding: Bool { true }

  /// Encodes the property with its entity's model, as ``NSEntityDescription/encode(with:)`` does; a property
  /// of no entity with all that it refers to. Fails the coder for a property without a name, and where a part
  /// has no archived form.
  open func encode(with coder: NSCoder) {
    DescriptionCoding.encode(name, of: declaringEntity, label: label, with: coder) { entity in
      entity.properties = [copy() as! NSPropertyDescription]
    }
  }

  /// Reads what ``encode(with:)`` wrote: the property, in an entity and a model of its own if it had an
  /// entity. Nil and an error in the coder for anything else.
  public required init?(coder: NSCoder) {
    super.init()
    guard let origin = DescriptionCoding.origin(coder),
      let twin = DescriptionCoding.property(type(of: makeEmptyCopy()), at: origin, coder)
    else { return nil }
    takePlace(of: twin)
    if origin.isAlone { declaringEntity = nil }
  }

  /// The entity that declares the property; sub-entities share the same instance.
  public final internal(set) var entity: NSEntityDescription! {
    get { declaringEntity }
    set { declaringEntity = newValue }
  }
  final var declaringEntity: NSEntityDescription?

  open var name: String = "" { willSet { mayChange() } }

  /// Whether the property may be nil when its object is saved. New descriptions are optional.
  open var isOptional: Bool = true { willSet { mayChange() } }

  /// Whether the property exists in memory only.
  open var isTransient: Bool {
    get { storedIsTransient }
    set {
      mayChange()
      storedIsTransient = newValue
    }
  }
  final var storedIsTransient = false

  /// The program's own values. Empty, not nil, unless set, as Apple's: `description.userInfo?["key"] = value`
  /// adds one.
  ///
  /// May be set while the model is in use, since no version hash has it, but not while another thread reads
  /// it. What the framework itself reads from it (an attribute that keeps exact decimals) is read when the
  /// model is first used.
  // Stored, so that predicates can read it: `$FETCHED_PROPERTY.userInfo.key`.
  open var userInfo: [AnyHashable: Any]? = [:]

  /// The old-style request for an index on this column; fetch indexes of the entity have replaced it.
  open var isIndexed: Bool = false { willSet { mayChange() } }

  /// Kept for model files; there is no Spotlight off Apple's platforms.
  open var isIndexedBySpotlight: Bool = false { willSet { mayChange() } }

  /// Kept for model files; obsolete.
  open var isStoredInExternalRecord: Bool = false { willSet { mayChange() } }

  /// Text that enters the version hash, to tell apart versions that differ in nothing else the hash covers.
  open var versionHashModifier: String? { willSet { mayChange() } }

  /// The name the property had in earlier versions; the current name unless set.
  open var renamingIdentifier: String! {
    get { storedRenamingIdentifier ?? name }
    set {
      mayChange()
      storedRenamingIdentifier = newValue
    }
  }
  final var storedRenamingIdentifier: String?

  /// Predicates the value must satisfy when its object is saved.
  public final internal(set) var validationPredicates: [NSPredicate] = []

  /// For each predicate the error code (number) or text reported when it fails.
  public final internal(set) var validationWarnings: [Any] = []

  /// Replaces the validation rules. Warnings pair up with predicates by position.
  open func setValidationPredicates(
    _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
  ) {
    setValidation(validationPredicates ?? [], warnings: validationWarnings ?? [])
  }

  final func setValidation(_ predicates: [NSPredicate], warnings: [Any]) {
    mayChange()
    validationPredicates = predicates
    validationWarnings = warnings
  }

  /// The name of this property in messages: `attribute 'name' of entity 'Person'`.
  package final var label: String {
    let kind =
      switch self {
      case is NSAttributeDescription: "attribute"
      case is NSRelationshipDescription: "relationship"
      case is NSFetchedPropertyDescription: "fetched property"
      default: "property"
      }
    guard let owner = declaringEntity?.name else { return "\(kind) '\(name)'" }
    return "\(kind) '\(name)' of entity '\(owner)'"
  }

  final func mayChange() {
    requireEditable(isFrozen, label)
  }

  func freezeContents() {
    isFrozen = true
  }

  // MARK: Copying and comparing

  /// A description of the same class as the receiver among the model's own classes.
  func makeEmptyCopy() -> NSPropertyDescription {
    NSPropertyDescription()
  }

  /// Copies everything but the owning entity into `other`, a result of `makeEmptyCopy`.
  func copyContents(into other: NSPropertyDescription) {
    other.name = name
    other.isOptional = isOptional
    other.storedIsTransient = storedIsTransient
    other.userInfo = userInfo
    other.isIndexed = isIndexed
    other.isIndexedBySpotlight = isIndexedBySpotlight
    other.isStoredInExternalRecord = isStoredInExternalRecord
    other.versionHashModifier = versionHashModifier
    other.storedRenamingIdentifier = storedRenamingIdentifier
    other.validationPredicates = validationPredicates
    other.validationWarnings = validationWarnings
  }

  /// An editable copy that belongs to no entity. A relationship's copy still refers to the original
  /// destination and inverse; copy the whole model to get a graph of copies.
  open func copy(with zone: NSZone? = nil) -> Any {
    let other = makeEmptyCopy()
    copyContents(into: other)
    return other
  }

  open override func copy() -> Any {
    copy(with: nil)
  }

  /// Descriptions are equal by content; relationships compare the names of destination and inverse.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPropertyDescription else { return false }
    return self === other || ModelComparison.differences(self, other).isEmpty
  }

  open override var hash: Int {
    name.hashValue
  }

  open override var description: String {
    label
  }
}
