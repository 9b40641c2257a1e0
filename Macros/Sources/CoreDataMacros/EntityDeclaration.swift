import CoreData

/// A class with `@ManagedObject`.
public protocol DeclaredEntity: NSManagedObject {
  /// The entity of the class, as it is declared.
  static var entityDeclaration: EntityDeclaration { get }
}

/// An entity as a class declares it; `@ManagedObject` makes it.
public struct EntityDeclaration {
  public let name: String
  public let type: NSManagedObject.Type
  /// The superclass, if it is no plain managed object.
  public let parent: NSManagedObject.Type?
  public let isAbstract: Bool
  public let unique: [[String]]
  /// Names of properties; "-" before one for a descending column.
  public let indexes: [[String]]
  public let was: String?
  public let versionHashModifier: String?
  public let userInfo: [String: String]
  public let properties: [PropertyDeclaration]

  public init(
    _ name: String?, _ type: NSManagedObject.Type, parent: NSManagedObject.Type? = nil,
    isAbstract: Bool = false, unique: [[String]] = [], indexes: [[String]] = [], was: String? = nil,
    versionHashModifier: String? = nil, userInfo: [String: String] = [:], _ properties: [PropertyDeclaration]
  ) {
    self.name = name ?? "\(type)"
    (self.type, self.parent, self.isAbstract) = (type, parent, isAbstract)
    (self.unique, self.indexes, self.was) = (unique, indexes, was)
    (self.versionHashModifier, self.userInfo, self.properties) = (versionHashModifier, userInfo, properties)
  }
}

/// A property as a class declares it; `@Managed` makes it.
public struct PropertyDeclaration {
  enum Kind {
    case attribute(NSAttributeDescription.AttributeType)
    case relationship(to: NSManagedObject.Type, isToMany: Bool, isOrdered: Bool)
  }

  public let name: String
  let kind: Kind
  let isOptional: Bool
  var settings = Settings()
  /// The name in the class, if it is another one.
  private(set) var member: String?

  /// The property, with that name in the class.
  public func declared(as member: String) -> PropertyDeclaration {
    var property: PropertyDeclaration = self
    property.member = member
    return property
  }

  /// What is the same for many types.
  struct Settings {
    var standard: Any?
    var isTransient: Bool = false
    var isExternal: Bool = false
    var isKeptInHistory: Bool = false
    var transformer: String?
    var derivation: String?
    var inverse: String?
    var rule: NSDeleteRule = .nullifyDeleteRule
    var min: Int = 0
    var max: Int = 0
    var was: String?
    var versionHashModifier: String?
    var userInfo: [String: String] = [:]
  }
}

// MARK: - Attributes

/// A type of values that an attribute's type belongs to.
public protocol AttributeValue {
  static var attributeType: NSAttributeDescription.AttributeType { get }
  /// The value of new objects where the property is not optional and no other is given: 0 for numbers, as the
  /// property reads without one.
  static var emptyValue: Any? { get }
}

extension AttributeValue { public static var emptyValue: Any? { nil } }
extension AttributeValue where Self: AdditiveArithmetic { public static var emptyValue: Any? { Self.zero } }
extension Bool { public static var emptyValue: Any? { false } }

extension Int16: AttributeValue {
  public static var attributeType: NSAttributeDescription.AttributeType { .integer16 }
}
extension Int32: AttributeValue {
  public static var attributeType: NSAttributeDescription.AttributeType { .integer32 }
}
extension Int64: AttributeValue {
  public static var attributeType: NSAttributeDescription.AttributeType { .integer64 }
}
extension Int: AttributeValue {
  public static var attributeType: NSAttributeDescription.AttributeType { .integer64 }
}
extension Bool: AttributeValue {
  public static var attributeType: NSAttributeDescription.AttributeType { .boolean }
}
extension Double: AttributeValue {
  public static var attributeType: NSAttributeDescription.AttributeType { .double }
}
extension Float: AttributeValue {
  public static var attributeType: NSAttributeDescription.AttributeType { .float }
}
extension Decimal: AttributeValue {
  public static var attributeType: NSAttributeDescription.AttributeType { .decimal }
}
extension NSDecimalNumber: AttributeValue {
  public static var attributeType: NSAttributeDescription.AttributeType { .decimal }
}
extension String: AttributeValue {
  public static var attributeType: NSAttributeDescription.AttributeType { .string }
}
extension Date: AttributeValue {
  public static var attributeType: NSAttributeDescription.AttributeType { .date }
}
extension Data: AttributeValue {
  public static var attributeType: NSAttributeDescription.AttributeType { .binaryData }
}
extension UUID: AttributeValue {
  public static var attributeType: NSAttributeDescription.AttributeType { .uuid }
}
extension URL: AttributeValue {
  public static var attributeType: NSAttributeDescription.AttributeType { .uri }
}

extension PropertyDeclaration {
  /// A required attribute of a type that attributes have.
  public static func property<Value: AttributeValue>(
    _ name: String, _ value: Value.Type, default standard: Any? = nil, isOptional: Bool? = nil,
    type: NSAttributeDescription.AttributeType? = nil, isTransient: Bool = false, isExternal: Bool = false,
    isKeptInHistory: Bool = false, transformer: String? = nil, derivation: String? = nil, was: String? = nil,
    versionHashModifier: String? = nil, userInfo: [String: String] = [:]
  ) -> PropertyDeclaration {
    PropertyDeclaration(
      name: name, kind: .attribute(type ?? Value.attributeType), isOptional: isOptional ?? false,
      settings: Settings(
        standard: standard ?? (isOptional == true || derivation != nil ? nil : Value.emptyValue),
        isTransient: isTransient, isExternal: isExternal, isKeptInHistory: isKeptInHistory,
        transformer: transformer,
        derivation: derivation, was: was, versionHashModifier: versionHashModifier, userInfo: userInfo))
  }

  /// An optional attribute of a type that attributes have.
  public static func property<Value: AttributeValue>(
    _ name: String, _ value: Value?.Type, default standard: Any? = nil, isOptional: Bool? = nil,
    type: NSAttributeDescription.AttributeType? = nil, isTransient: Bool = false, isExternal: Bool = false,
    isKeptInHistory: Bool = false, transformer: String? = nil, derivation: String? = nil, was: String? = nil,
    versionHashModifier: String? = nil, userInfo: [String: String] = [:]
  ) -> PropertyDeclaration {
    property(
      name, Value.self, default: standard, isOptional: isOptional ?? true, type: type,
      isTransient: isTransient, isExternal: isExternal, isKeptInHistory: isKeptInHistory,
      transformer: transformer, derivation: derivation,
      was: was, versionHashModifier: versionHashModifier, userInfo: userInfo)
  }

  /// A required attribute with the raw values of an enumeration.
  public static func property<Value: RawRepresentable>(
    _ name: String, _ value: Value.Type, default standard: Value? = nil, isOptional: Bool? = nil,
    type: NSAttributeDescription.AttributeType? = nil, isTransient: Bool = false,
    isKeptInHistory: Bool = false, was: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDeclaration where Value.RawValue: AttributeValue {
    property(
      name, Value.RawValue.self, default: standard?.rawValue, isOptional: isOptional, type: type,
      isTransient: isTransient, isKeptInHistory: isKeptInHistory, was: was,
      versionHashModifier: versionHashModifier, userInfo: userInfo)
  }

  /// An optional attribute with the raw values of an enumeration.
  public static func property<Value: RawRepresentable>(
    _ name: String, _ value: Value?.Type, default standard: Value? = nil, isOptional: Bool? = nil,
    type: NSAttributeDescription.AttributeType? = nil, isTransient: Bool = false,
    isKeptInHistory: Bool = false, was: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDeclaration where Value.RawValue: AttributeValue {
    property(
      name, Value.self, default: standard, isOptional: isOptional ?? true, type: type,
      isTransient: isTransient, isKeptInHistory: isKeptInHistory, was: was,
      versionHashModifier: versionHashModifier, userInfo: userInfo)
  }

  /// An attribute of any other type: transformable, unless `type` says what it is.
  @_disfavoredOverload
  public static func property<Value>(
    _ name: String, _ value: Value.Type, default standard: Any? = nil, isOptional: Bool? = nil,
    type: NSAttributeDescription.AttributeType? = nil, isTransient: Bool = false, isExternal: Bool = false,
    isKeptInHistory: Bool = false, transformer: String? = nil, was: String? = nil,
    versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDeclaration {
    PropertyDeclaration(
      name: name, kind: .attribute(type ?? .transformable),
      isOptional: isOptional ?? (value is any OptionalType.Type),
      settings: Settings(
        standard: standard, isTransient: isTransient, isExternal: isExternal,
        isKeptInHistory: isKeptInHistory,
        transformer: transformer,
        was: was, versionHashModifier: versionHashModifier, userInfo: userInfo))
  }
}

private protocol OptionalType {}
extension Optional: OptionalType {}

// MARK: - Relationships

extension PropertyDeclaration {
  private static func relationship(
    _ name: String, _ kind: Kind, _ isOptional: Bool, _ inverse: String?, _ rule: NSDeleteRule, _ min: Int,
    _ max: Int, _ isTransient: Bool, _ was: String?, _ versionHashModifier: String?,
    _ userInfo: [String: String]
  ) -> PropertyDeclaration {
    PropertyDeclaration(
      name: name, kind: kind, isOptional: isOptional,
      settings: Settings(
        isTransient: isTransient, inverse: inverse, rule: rule, min: min, max: max, was: was,
        versionHashModifier: versionHashModifier, userInfo: userInfo))
  }

  /// A required to-one relationship.
  public static func property<Destination: NSManagedObject>(
    _ name: String, _ destination: Destination.Type, inverse: String? = nil,
    rule: NSDeleteRule = .nullifyDeleteRule, min: Int = 0, isOrdered: Bool = false, isOptional: Bool? = nil,
    isTransient: Bool = false, was: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDeclaration {
    relationship(
      name, .relationship(to: destination, isToMany: false, isOrdered: isOrdered), isOptional ?? false,
      inverse,
      rule, min, 1, isTransient, was, versionHashModifier, userInfo)
  }

  /// An optional to-one relationship.
  public static func property<Destination: NSManagedObject>(
    _ name: String, _ destination: Destination?.Type, inverse: String? = nil,
    rule: NSDeleteRule = .nullifyDeleteRule, min: Int = 0, isOrdered: Bool = false, isOptional: Bool? = nil,
    isTransient: Bool = false, was: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDeclaration {
    relationship(
      name, .relationship(to: Destination.self, isToMany: false, isOrdered: isOrdered), isOptional ?? true,
      inverse, rule, min, 1, isTransient, was, versionHashModifier, userInfo)
  }

  /// A to-many relationship.
  public static func property<Destination: NSManagedObject>(
    _ name: String, _ destination: Set<Destination>.Type, inverse: String? = nil,
    rule: NSDeleteRule = .nullifyDeleteRule, min: Int = 0, max: Int = 0, isOptional: Bool? = nil,
    isTransient: Bool = false, was: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDeclaration {
    relationship(
      name, .relationship(to: Destination.self, isToMany: true, isOrdered: false), isOptional ?? true,
      inverse, rule, min, max, isTransient, was, versionHashModifier, userInfo)
  }

  /// An ordered to-many relationship.
  public static func property<Destination: NSManagedObject>(
    _ name: String, _ destination: [Destination].Type, inverse: String? = nil,
    rule: NSDeleteRule = .nullifyDeleteRule, min: Int = 0, max: Int = 0, isOptional: Bool? = nil,
    isTransient: Bool = false, was: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDeclaration {
    relationship(
      name, .relationship(to: Destination.self, isToMany: true, isOrdered: true), isOptional ?? true,
      inverse, rule, min, max, isTransient, was, versionHashModifier, userInfo)
  }
}
