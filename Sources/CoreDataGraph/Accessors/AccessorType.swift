import CoreDataModel
import CoreDataStorage
import Foundation

// Compares the Swift type of an accessor with the property in the model. An accessor of another type than its
// attribute would silently read wrong values: 4464 for 70000, nil for a number, an empty set for an object
// (Decisions/0043).

/// The declared type of an accessor in a class.
enum AccessorType {
  /// A value of a type, without optionals.
  case value(Any.Type)
  case toOne(NSManagedObject.Type)
  /// `isOrdered` is nil if both kinds fit.
  case toMany(NSManagedObject.Type, isOrdered: Bool?)
  /// Fits every property.
  case any
}

extension EntityRuntime {
  /// Stops unless an accessor of this shape returns a slot's values unchanged.
  func requireFit(_ shape: AccessorType, _ slot: Int) {
    let described: PropertySlot = layout.slots[slot]
    if described.fits(shape, in: model) { return }
    let fitting: [String] = layout.slots.filter { !$0.isElement }.sorted { $0.name < $1.name }.map {
      "  var \($0.name): \($0.accessorType(in: model))"
    }
    fatalError(
      """
      The class \(objectClass) has \(shape.phrase) for '\(described.name)', but \(layout.name).\(described.name) is \
      \(described.phrase(in: model)). Change one of them. What fits the entity \(layout.name):
      \(fitting.joined(separator: "\n"))
      """)
  }
}

extension AccessorType {
  /// The shape of an accessor of any type.
  init(of type: Any.Type) {
    switch KeyPathSamples.unwrapped(type) {
    case let type as NSManagedObject.Type: self = .toOne(type)
    // A Foundation set may be the value of a transformable attribute, and an array the value of a fetched
    // property.
    case let type as any ManagedMembers.Type where type.memberType != NSManagedObject.self:
      self = .toMany(type.memberType, isOrdered: type.isOrdered)
    case let type: self = .value(type)
    }
  }

  fileprivate var phrase: String {
    switch self {
    case .value(let type): "an accessor of type \(type)"
    case .toOne(let type): "an accessor of a to-one relationship to \(type)"
    case .toMany(let type, let isOrdered):
      "an accessor of \(isOrdered == true ? "an ordered" : "a") to-many relationship to \(type)"
    case .any: "an accessor"
    }
  }
}

extension PropertySlot {
  fileprivate func fits(_ shape: AccessorType, in model: ModelRuntime) -> Bool {
    switch shape {
    case .any: return true
    case .value(let type):
      if let attribute { return AttributeTypes.fits(type, attribute.attributeType) }
      guard let relationship else { return AttributeTypes.isCollection(type) }
      guard let members = type as? any ManagedMembers.Type else {
        return AttributeTypes.acceptsAnyValue(type)
      }
      return relationship.isToMany && relationship.isOrdered == members.isOrdered
    case .toOne(let type): return isToOne && leads(to: type, in: model)
    case .toMany(let type, let isOrdered):
      guard let relationship else {
        return attribute.map { AttributeTypes.fits([Any].self, $0.attributeType) } ?? true
      }
      return relationship.isToMany && (isOrdered ?? relationship.isOrdered) == relationship.isOrdered
        && leads(to: type, in: model)
    }
  }

  /// Whether the objects of a relationship can be of a class: the destination's own, one above it, or the
  /// class of a sub-entity.
  private func leads(to type: NSManagedObject.Type, in model: ModelRuntime) -> Bool {
    guard let destination else { return true }
    let other: NSManagedObject.Type = model.entities[destination].objectClass
    return other.isSubclass(of: type) || type.isSubclass(of: other)
  }

  /// The kind of the property, for messages.
  fileprivate func phrase(in model: ModelRuntime) -> String {
    if let attribute { return "an attribute of type \(attribute.attributeType.editorName)" }
    guard let relationship else { return "a fetched property" }
    let kind: String =
      relationship.isToMany ? relationship.isOrdered ? "an ordered to-many" : "a to-many" : "a to-one"
    return "\(kind) relationship to \(destinationClass(in: model))"
  }

  private func destinationClass(in model: ModelRuntime) -> String {
    destination.map { "\(model.entities[$0].objectClass)" } ?? "NSManagedObject"
  }

  /// The type with which a class declares the property.
  fileprivate func accessorType(in model: ModelRuntime) -> String {
    if let attribute { return AttributeTypes.name(attribute) }
    let type: String = destinationClass(in: model)
    guard let relationship else { return "[\(type)]" }
    if !relationship.isToMany { return "\(type)?" }
    return relationship.isOrdered ? "[\(type)]" : "Set<\(type)>"
  }
}

extension NSManagedObject {
  fileprivate static func isSubclass(of other: NSManagedObject.Type) -> Bool {
    var type: AnyClass? = self
    while let current = type {
      if current == other { return true }
      type = _getSuperclass(current)
    }
    return false
  }
}

/// The Swift types that can represent all values of attributes of each type.
private enum AttributeTypes {
  /// Types of at least an attribute's width can represent its values; unsigned integers, and integers of 8
  /// bits, which no attribute has, are checked when they are read.
  private static let types: [NSAttributeType: Set<ObjectIdentifier>] = [
    .integer16AttributeType: ids(
      Int16.self, Int32.self, Int64.self, Int.self, Int8.self, UInt8.self, UInt16.self, Float.self,
      Double.self,
      NSNumber.self),
    .integer32AttributeType: ids(
      Int32.self, Int64.self, Int.self, UInt16.self, UInt32.self, Double.self, NSNumber.self),
    .integer64AttributeType: ids(
      Int64.self, Int.self, UInt32.self, UInt64.self, UInt.self, NSNumber.self),
    .booleanAttributeType: ids(Bool.self, NSNumber.self),
    .doubleAttributeType: ids(Double.self, NSNumber.self),
    .floatAttributeType: ids(Float.self, Double.self, NSNumber.self),
    .decimalAttributeType: ids(Decimal.self, NSDecimalNumber.self, NSNumber.self),
    .dateAttributeType: ids(Date.self, NSDate.self, Double.self),
    .stringAttributeType: ids(String.self, NSString.self),
    .binaryDataAttributeType: ids(Data.self, NSData.self),
    .UUIDAttributeType: ids(UUID.self, NSUUID.self),
    .URIAttributeType: ids(URL.self, NSURL.self),
    .objectIDAttributeType: ids(NSManagedObjectID.self),
    .compositeAttributeType: ids([String: Any].self, [String: Any?].self, NSDictionary.self),
  ]

  /// Types that do not restrict the value.
  private static let open: Set<ObjectIdentifier> = ids(
    Any.self, AnyObject.self, AnyHashable.self, NSObject.self, (any NSCoding).self,
    (any NSObjectProtocol).self,
    (any NSCopying).self, (any Sendable).self, (any CVarArg).self)

  private static func ids(_ types: Any.Type...) -> Set<ObjectIdentifier> {
    Set(types.map { ObjectIdentifier($0) })
  }

  static func fits(_ type: Any.Type, _ attribute: NSAttributeType) -> Bool {
    // Transformable and undefined attributes hold values of any type.
    guard let fitting = types[attribute] else { return true }
    return fitting.contains(ObjectIdentifier(type)) || acceptsAnyValue(type)
  }

  static func isCollection(_ type: Any.Type) -> Bool {
    type is any Collection.Type || type == NSArray.self || acceptsAnyValue(type)
  }

  static func acceptsAnyValue(_ type: Any.Type) -> Bool { open.contains(ObjectIdentifier(type)) }

  /// The type that a class declares for an attribute. Numbers that may be missing are optional unless they
  /// have a default value.
  static func name(_ attribute: NSAttributeDescription) -> String {
    let isScalar: Bool
    let name: String
    switch attribute.attributeType {
    case .integer16AttributeType: (name, isScalar) = ("Int16", true)
    case .integer32AttributeType: (name, isScalar) = ("Int32", true)
    case .integer64AttributeType: (name, isScalar) = ("Int64", true)
    case .booleanAttributeType: (name, isScalar) = ("Bool", true)
    case .doubleAttributeType: (name, isScalar) = ("Double", true)
    case .floatAttributeType: (name, isScalar) = ("Float", true)
    case .decimalAttributeType: (name, isScalar) = ("NSDecimalNumber", false)
    case .dateAttributeType: (name, isScalar) = ("Date", false)
    case .stringAttributeType: (name, isScalar) = ("String", false)
    case .binaryDataAttributeType: (name, isScalar) = ("Data", false)
    case .UUIDAttributeType: (name, isScalar) = ("UUID", false)
    case .URIAttributeType: (name, isScalar) = ("URL", false)
    case .objectIDAttributeType: (name, isScalar) = ("NSManagedObjectID", false)
    case .compositeAttributeType: (name, isScalar) = ("[String: Any]", false)
    case .transformableAttributeType, .undefinedAttributeType:
      (name, isScalar) = (attribute.attributeValueClassName ?? "NSObject", false)
    }
    let isOptional: Bool = attribute.isOptional && !(isScalar && attribute.defaultValue != nil)
    return isOptional ? "\(name)?" : name
  }
}
