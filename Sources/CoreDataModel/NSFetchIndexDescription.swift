import CoreDataPredicates
import Foundation

/// How an index column is organised.
public enum NSFetchIndexElementType: UInt, Sendable {
  case binary = 0
  /// A numeric column of an R-tree, for range searches over several dimensions.
  case rTree = 1
}

/// An index of an entity.
nonisolated open class NSFetchIndexDescription: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable for the reason given at NSPropertyDescription: frozen before it is shared.

  final package internal(set) var isFrozen = false

  /// The index's name, unique within its entity.
  open var name: String { willSet { mayChange() } }

  /// The columns, most significant first.
  open var elements: [NSFetchIndexElementDescription] {
    willSet { mayChange() }
    didSet { for element in elements { element.indexDescription = self } }
  }

  /// The entity that declares the index.
  public final internal(set) var entity: NSEntityDescription?

  /// Only rows that satisfy this are in the index; nil for all.
  open var partialIndexPredicate: NSPredicate? { willSet { mayChange() } }

  public init(name: String, elements: [NSFetchIndexElementDescription]?) {
    self.name = name
    self.elements = elements ?? []
    super.init()
    for element in self.elements { element.indexDescription = self }
  }

  // MARK: Coding

  open class var supportsSecureCoding: Bool { true }

  /// Encodes the index with its entity's model, as ``NSEntityDescription/encode(with:)`` does. The elements
  /// of an index of no entity are archived by the names of their properties.
  open func encode(with coder: NSCoder) {
    DescriptionCoding.encode(name, of: entity, label: "The index '\(name)'", with: coder) { entity in
      entity.indexes = [copy() as! NSFetchIndexDescription]
    }
  }

  /// Reads what ``encode(with:)`` wrote: the index, in an entity and a model of its own if it had an entity.
  /// Nil and an error in the coder for anything else.
  public required convenience init?(coder: NSCoder) {
    guard let origin = DescriptionCoding.origin(coder) else { return nil }
    guard let place = origin.entity.indexes.firstIndex(where: { $0.name == origin.name }) else {
      coder.report(
        DescriptionCoding.error(
          "The archived entity '\(origin.entity.name ?? "")' has no index '\(origin.name)'."))
      return nil
    }
    let twin: NSFetchIndexDescription = origin.entity.indexes[place]
    self.init(name: twin.name, elements: twin.elements)
    partialIndexPredicate = twin.partialIndexPredicate
    if !origin.isAlone { origin.entity.indexes[place] = self }
  }

  // MARK: Changing and comparing

  final func mayChange() {
    requireEditable(isFrozen, "index '\(name)' of entity '\(entity?.name ?? "")'")
  }

  func freezeContents() {
    isFrozen = true
    for element in elements {
      element.isFrozen = true
      element.expressionDescription?.freezeContents()
    }
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    let other = NSFetchIndexDescription(
      name: name, elements: elements.map { $0.copy() as! NSFetchIndexElementDescription })
    other.partialIndexPredicate = partialIndexPredicate
    return other
  }

  open override func copy() -> Any {
    copy(with: nil)
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSFetchIndexDescription else { return false }
    return self === other || ModelComparison.differences(self, other).isEmpty
  }

  open override var hash: Int {
    name.hashValue
  }
}

/// One column of an index.
nonisolated open class NSFetchIndexElementDescription: NSObject, NSCopying, NSSecureCoding,
  @unchecked Sendable
{
  // Sendable for the reason given at NSPropertyDescription: frozen before it is shared.

  final package internal(set) var isFrozen = false

  /// The indexed property; found by its name in the index's entity if the element was read from a file.
  public final var property: NSPropertyDescription? {
    storedProperty ?? storedName.flatMap { indexDescription?.entity?.propertiesByName[$0] }
  }
  package internal(set) final var storedProperty: NSPropertyDescription?

  public final var propertyName: String? {
    storedProperty?.name ?? storedName
  }
  final let storedName: String?

  /// The expression that computes the column, nil for a column that is a property.
  package final var expressionDescription: NSExpressionDescription? {
    storedProperty as? NSExpressionDescription
  }

  open var collationType: NSFetchIndexElementType { willSet { mayChange() } }

  /// The direction of the column. Ascending unless set.
  open var isAscending: Bool = true { willSet { mayChange() } }

  /// The index this is a column of.
  public final internal(set) weak var indexDescription: NSFetchIndexDescription?

  public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
    storedProperty = property
    storedName = nil
    self.collationType = collationType
    super.init()
  }

  package init(propertyName: String, collationType: NSFetchIndexElementType) {
    storedName = propertyName
    self.collationType = collationType
    super.init()
  }

  // MARK: Coding

  open class var supportsSecureCoding: Bool { true }

  private static let indexKey = "index"
  private static let placeKey = "place"
  private static let isAloneKey = "isAlone"

  /// Encodes the element with its index, one of its own if it belongs to none.
  open func encode(with coder: NSCoder) {
    let index: NSFetchIndexDescription =
      indexDescription
      ?? NSFetchIndexDescription(name: "element", elements: [copy() as! NSFetchIndexElementDescription])
    coder.encode(index, forKey: Self.indexKey)
    coder.encode(Int32(indexDescription?.elements.firstIndex { $0 === self } ?? 0), forKey: Self.placeKey)
    coder.encode(indexDescription == nil, forKey: Self.isAloneKey)
  }

  /// Reads what ``encode(with:)`` wrote: the element, in an index of its own if it had one. Nil and an error
  /// in the coder for anything else.
  public required init?(coder: NSCoder) {
    let place = Int(coder.decodeInt32(forKey: Self.placeKey))
    guard let index = coder.decodeObject(of: NSFetchIndexDescription.self, forKey: Self.indexKey),
      index.elements.indices.contains(place)
    else {
      if coder.error == nil {
        coder.report(DescriptionCoding.error("The archive contains no element of a fetch index."))
      }
      return nil
    }
    let twin: NSFetchIndexElementDescription = index.elements[place]
    storedProperty = twin.storedProperty
    storedName = twin.storedName
    collationType = twin.collationType
    super.init()
    isAscending = twin.isAscending
    if !coder.decodeBool(forKey: Self.isAloneKey) { index.elements[place] = self }
  }

  // MARK: Changing and comparing

  final func mayChange() {
    requireEditable(
      isFrozen, "element '\(propertyName ?? "")' of index '\(indexDescription?.name ?? "")'")
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    let other =
      if let storedProperty {
        NSFetchIndexElementDescription(
          property: expressionDescription.map { $0.copy() as! NSPropertyDescription } ?? storedProperty,
          collationType: collationType)
      } else {
        NSFetchIndexElementDescription(propertyName: storedName ?? "", collationType: collationType)
      }
    other.isAscending = isAscending
    return other
  }

  open override func copy() -> Any {
    copy(with: nil)
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSFetchIndexElementDescription else { return false }
    return propertyName == other.propertyName && collationType == other.collationType
      && isAscending == other.isAscending && expressionDescription == other.expressionDescription
  }

  open override var hash: Int {
    propertyName.hashValue
  }
}
