import CoreDataPredicates
import Foundation

/// A schema: entities, the configurations that group them, and named fetch requests.
///
/// ```swift
/// let loaded = try NSManagedObjectModel.load(contentsOf: url)   // .momd, .mom, .xcdatamodeld, .xcdatamodel
/// loaded.warnings.forEach { print($0) }
/// let container = NSPersistentContainer(name: "Shop", managedObjectModel: loaded.model)
/// ```
///
/// Thread use and ownership are those of ``NSPropertyDescription``.
nonisolated open class NSManagedObjectModel: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable because with `isFrozen` every setter stops the program once a coordinator shares the model
  // between queues; until then the model belongs to the code that builds it. The look-up tables are written
  // by `freeze` only.

  /// Whether a coordinator uses the model, so that it can't change any more.
  final package internal(set) var isFrozen = false

  /// The file that the model was read from; nil for a model made in code. Other versions lie beside it.
  package final internal(set) var file: URL?

  /// What is named after the version: the file, or the `.xcdatamodel` folder of a source.
  package final var versionFile: URL? { file.map(Self.versionFile) }
  /// The name of the version's file, without its ending; nil for a model made in code.
  package final var versionFileName: String? { versionFile?.deletingPathExtension().lastPathComponent }

  static func versionFile(of file: URL) -> URL {
    file.lastPathComponent == "contents" ? file.deletingLastPathComponent() : file
  }

  /// Whether all objects are plain `NSManagedObject`s, whatever classes the entities name; for models whose
  /// classes the program may not have, or have for another version. A copy does not take it over.
  package final var makesPlainObjects: Bool = false

  public override init() {
    super.init()
  }

  // MARK: Coding

  public static var supportsSecureCoding: Bool { true }

  private static let codingKey = "model"
  /// The hashes that Apple's tools recorded, a property list: the archive of a `.mom` has no place for them.
  private static let hashesKey = "versionHashes"

  /// Reads the archive of ``encode(with:)``; nil and an error in the coder for anything else.
  public required init?(coder: NSCoder) {
    super.init()
    do {
      guard let data = coder.decodeObject(of: NSData.self, forKey: Self.codingKey) else { return nil }
      let model = try ModelArchiveReader.read(Data(referencing: data), file: "model archive").model
      if coder.containsValue(forKey: Self.hashesKey),
        let data = coder.decodeObject(of: NSData.self, forKey: Self.hashesKey)
      {
        let list: [String: Any] = try PropertyListValues.dictionary(from: Data(referencing: data))
        model.record(versionHashes: list as? [String: Data] ?? [:])
      }
      adopt(model)
    } catch {
      coder.report(error)
      return nil
    }
  }

  /// Encodes the model as the archive of a `.mom` file, with the version hashes that Apple's tools recorded
  /// for it. Fails the coder if a part has no archived form.
  open func encode(with coder: NSCoder) {
    do {
      coder.encode(NSData(data: try ModelArchiveWriter.write(self, as: .file)), forKey: Self.codingKey)
      let recorded: [String: Data] = recordedVersionHashes
      if recorded.isEmpty { return }
      let list = try PropertyListSerialization.data(fromPropertyList: recorded, format: .binary, options: 0)
      coder.encode(NSData(data: list), forKey: Self.hashesKey)
    } catch {
      coder.report(error)
    }
  }

  /// Takes the parts of a model to which nothing else refers.
  final func adopt(_ other: NSManagedObjectModel) {
    entities = other.storedEntities
    entityNamesByConfiguration = other.entityNamesByConfiguration
    templates = other.templates
    versionIdentifiers = other.versionIdentifiers
    setLocalization = other.setLocalization
    file = other.file
  }

  // MARK: Entities

  /// All entities. Sub-entities that are left out of a new value are added after it.
  open var entities: [NSEntityDescription] {
    get { storedEntities }
    set {
      mayChange()
      for old in storedEntities where old.model === self { old.model = nil }
      var seen: Set<ObjectIdentifier> = []
      var all: [NSEntityDescription] = []
      var waiting = ArraySlice(newValue)
      while let entity = waiting.popFirst() {
        guard seen.insert(ObjectIdentifier(entity)).inserted else { continue }
        entity.model = self
        all.append(entity)
        waiting.append(contentsOf: entity.storedSubentities)
      }
      storedEntities = all
    }
  }
  @exclusivity(unchecked) package internal(set) final var storedEntities: [NSEntityDescription] = []

  open var entitiesByName: [String: NSEntityDescription] {
    frozenEntitiesByName
      ?? Dictionary(storedEntities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }
  final var frozenEntitiesByName: [String: NSEntityDescription]?

  /// The entities in the order in which a SQLite store numbers them from 1: roots by name ignoring case, each
  /// followed at once by its descendants.
  package final var entitiesInStoreOrder: [NSEntityDescription] {
    NSEntityDescription.inStoreOrder(storedEntities.filter { $0.superentity == nil })
      .flatMap(\.familyInStoreOrder)
  }

  // MARK: Configurations

  /// The name Apple gives the configuration of all entities.
  package static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

  /// The names of the configurations, the default one of all entities first.
  open var configurations: [String] {
    [NSManagedObjectModel.defaultConfigurationName] + entityNamesByConfiguration.keys.sorted()
  }

  package internal(set) final var entityNamesByConfiguration: [String: [String]] = [:]

  /// The configurations the model itself defines: name and entity names.
  package final var namedConfigurations: [String: [String]] {
    entityNamesByConfiguration
  }

  /// The entities of a configuration; all for nil, nil for a name the model does not have.
  open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
    guard let configuration, configuration != NSManagedObjectModel.defaultConfigurationName else {
      return entities
    }
    guard let names = entityNamesByConfiguration[configuration] else {
      // "Default" is the name of the set of all entities in Xcode's editor.
      return configuration == "Default" ? entities : nil
    }
    let byName = entitiesByName
    return names.compactMap { byName[$0] }
  }

  /// The names of the entities whose objects a store of the configuration holds: those of the configuration
  /// and their sub-entities, which share their tables. nil for no configuration, and for one that the model
  /// does not have.
  package final func heldEntityNames(ofConfiguration configuration: String?) -> Set<String>? {
    configuration.flatMap { entities(forConfigurationName: $0) }.map { entities in
      Set(entities.flatMap { $0.familyInStoreOrder.compactMap(\.name) })
    }
  }

  /// Creates or replaces a configuration. Its entities must be in the model. A store of the configuration
  /// holds objects of their sub-entities too.
  open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
    mayChange()
    for entity in entities {
      precondition(
        entity.model === self,
        """
        Entity '\(entity.name ?? "")' can't be in configuration '\(configuration)': it isn't in the model. \
        Add it to the model's entities first.
        """)
    }
    entityNamesByConfiguration[configuration] = entities.map { $0.name ?? "" }
  }

  /// Keeps an entity in its configurations, which have names.
  final func rename(_ old: String?, to new: String?) {
    for (configuration, names) in entityNamesByConfiguration where names.contains(old ?? "") {
      entityNamesByConfiguration[configuration] = names.map { $0 == (old ?? "") ? new ?? "" : $0 }
    }
  }

  // MARK: Fetch request templates

  package internal(set) final var templates: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]

  open var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
    templates
  }

  /// Creates, replaces or (nil) removes a named request. The model keeps the request itself; don't change it
  /// afterwards.
  open func setFetchRequestTemplate(
    _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
  ) {
    mayChange()
    templates[name] = fetchRequestTemplate
  }

  open func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
    templates[name]
  }

  // MARK: Versions and localisation

  /// Names the developer gave this version. Informative: hashes decide which stores fit.
  open var versionIdentifiers: Set<AnyHashable> = [] { willSet { mayChange() } }

  /// The words for users in the messages of errors.
  ///
  /// | key | value |
  /// |---|---|
  /// | `Entity/Person` | the entity's name |
  /// | `Property/name/Entity/Person` | the name of the entity's property |
  /// | `Property/name` | the name of all properties of that name |
  /// | `ErrorString/is too long` | a problem, or a warning of a validation predicate |
  ///
  /// Unless set it is that of the strings file beside the model's file, `ShopModel.strings` for `Shop.momd`,
  /// in the language of the process (`de.lproj/ShopModel.strings`); it is read when it is first asked for.
  /// Setting nil restores that. Copies have it too; compiled and source models don't contain it. Apple's
  /// page: <https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel/localizationdictionary>
  open var localizationDictionary: [String: String]? {
    get { setLocalization ?? fileLocalization.words(besides: file) }
    set {
      mayChange()
      setLocalization = newValue
    }
  }
  final var setLocalization: [String: String]?
  private final let fileLocalization = ModelLocalization()

  /// Data that the object graph derives from the model once; guarded by a lock of the graph.
  package final var runtimeStorage: AnyObject?

  // MARK: Freezing

  final func mayChange() {
    requireEditable(isFrozen, "The model itself")
  }

  /// Makes the model and all its parts immutable. Called by a coordinator before it shares the model; costs
  /// one pass.
  package final func freeze() {
    guard !isFrozen else { return }
    for entity in storedEntities { entity.freezeContents() }
    for template in templates.values { template.isFrozen = true }
    frozenEntitiesByName = entitiesByName
    isFrozen = true
  }

  // MARK: Copying and comparing

  /// An editable copy of the whole graph: entities, properties, indexes and templates are copies that refer
  /// to each other, never to the original.
  open func copy(with zone: NSZone? = nil) -> Any {
    let other = NSManagedObjectModel()
    ModelCopy.copyGraph(storedEntities, into: other)
    other.entityNamesByConfiguration = entityNamesByConfiguration
    other.versionIdentifiers = versionIdentifiers
    other.setLocalization = setLocalization
    other.file = file
    ModelCopy.copyTemplates(of: self, into: other)
    return other
  }

  open override func copy() -> Any {
    copy(with: nil)
  }

  /// Equal models have equal entities, configurations, templates and version identifiers.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectModel else { return false }
    return self === other || ModelComparison.differences(self, other).isEmpty
  }

  open override var hash: Int {
    Set(storedEntities.map { $0.name }).hashValue
  }

  open override var description: String {
    "model of " + storedEntities.compactMap(\.name).sorted().joined(separator: ", ")
  }
}
