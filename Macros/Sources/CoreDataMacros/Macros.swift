@_exported import CoreData

// The declarations of the macros. What their expansions call is beside this file.

/// Declares the entity of a class.
///
/// ```swift
/// @ManagedObject(unique: [["code"]], indexes: [["dueDate", "-priority"]])
/// public final class Item: NSManagedObject {
///   @Managed var code: String
///   @Managed var dueDate: Date?
///   @Managed(default: 0) var priority: Int16
///   @Managed(inverse: \Tag.items) var tags: Set<Tag>
/// }
///
/// let model = try NSManagedObjectModel(declaredBy: Item.self, Tag.self)
/// ```
///
/// The class gets its ``DeclaredEntity/entityDeclaration``, and a `fetchRequest()` of its type unless it has
/// one. A class that derives from another one with this macro is a sub-entity.
///
/// - Parameters:
///   - name: the name of the entity; the name of the class unless given.
///   - isAbstract: whether only sub-entities have objects.
///   - unique: groups of properties whose values together are unique.
///   - indexes: fetch indexes, each a list of properties; "-" before a name makes the column descending.
///   - was: the name of the entity in earlier versions (the renaming identifier).
///   - versionHashModifier: tells apart versions that differ in nothing else.
///   - userInfo: the program's own values.
@attached(member, names: named(entityDeclaration), named(fetchRequest))
@attached(extension, conformances: DeclaredEntity)
public macro ManagedObject(
  _ name: String? = nil, isAbstract: Bool = false, unique: [[String]] = [], indexes: [[String]] = [],
  was: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacrosPlugin", type: "ManagedObjectMacro")

/// An attribute, or a relationship without further settings: its accessors, and its part in the declaration
/// of the class's entity.
///
/// A property whose type is optional is optional in the model; one whose type is not is required: numbers and
/// flags are 0 and false in new objects unless a default value is given, others need one, or a value before
/// their object is saved. To-many relationships are `Set<Tag>`, and ordered
/// ones `[Tag]`; they are optional. In a class without
/// `@ManagedObject` the macro makes only the accessors, for an entity of a model that was drawn.
///
/// - Parameters:
///   - name: the name in the model, where that can be none in the class, as `description` can't.
///   - default: the value of new objects.
///   - isOptional: whether the model allows no value, if that is not what the type says.
///   - type: the attribute's type in the model, if that is not the one of the property's type: a `Int32`
///     property of an Integer 16, a transformable attribute.
///   - isTransient: whether stores leave the value out.
///   - isExternal: whether stores may keep large data in files of their own.
///   - isKeptInHistory: whether persistent history keeps the value of a deleted object.
///   - transformer: the name of the value transformer of a transformable attribute.
///   - derivation: the expression from which the store computes the value.
///   - was: the name of the property in earlier versions (the renaming identifier).
///   - versionHashModifier: tells apart versions that differ in nothing else.
///   - userInfo: the program's own values.
@attached(accessor)
@attached(peer, names: prefixed(_key_))
public macro Managed(
  name: String? = nil, default: Any? = nil, isOptional: Bool? = nil,
  type: NSAttributeDescription.AttributeType? = nil, isTransient: Bool = false, isExternal: Bool = false,
  isKeptInHistory: Bool = false, transformer: String? = nil, derivation: String? = nil, was: String? = nil,
  versionHashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacrosPlugin", type: "ManagedMacro")

/// A relationship.
///
/// - Parameters:
///   - inverse: the property that leads back, at one of the two sides; as text it may be given at both.
///   - name: the name in the model, where that can be none in the class.
///   - rule: what happens to the objects at the other end when this one is deleted.
///   - min: the fewest objects of a to-many relationship; 1 for a to-one relationship of some old models,
///     whose version hash has it.
///   - max: the most objects of a to-many relationship; 0 for no limit.
///   - isOrdered: whether a to-one relationship is an ordered one, which says nothing of its object, and has
///     another version hash: models drawn so need it. Of a to-many relationship the type tells the order.
///   - isOptional: whether there may be none; unless given, what the property's type says.
///   - isTransient: whether stores leave it out.
///   - was: the name of the property in earlier versions (the renaming identifier).
///   - versionHashModifier: tells apart versions that differ in nothing else.
///   - userInfo: the program's own values.
@attached(accessor)
@attached(peer, names: prefixed(_key_))
public macro Managed<Destination, Value>(
  inverse: KeyPath<Destination, Value>, name: String? = nil, rule: NSDeleteRule = .nullifyDeleteRule,
  min: Int = 0, max: Int = 0, isOrdered: Bool = false, isOptional: Bool? = nil, isTransient: Bool = false,
  was: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacrosPlugin", type: "ManagedMacro")

/// A relationship whose inverse is named, or that has none.
@attached(accessor)
@attached(peer, names: prefixed(_key_))
public macro Managed(
  inverse: String? = nil, name: String? = nil, rule: NSDeleteRule, min: Int = 0, max: Int = 0,
  isOrdered: Bool = false, isOptional: Bool? = nil, isTransient: Bool = false, was: String? = nil,
  versionHashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacrosPlugin", type: "ManagedMacro")

/// A relationship whose inverse is named, with the rule "nullify".
@attached(accessor)
@attached(peer, names: prefixed(_key_))
public macro Managed(
  inverse: String, name: String? = nil, min: Int = 0, max: Int = 0, isOrdered: Bool = false,
  isOptional: Bool? = nil, isTransient: Bool = false, was: String? = nil, versionHashModifier: String? = nil,
  userInfo: [String: String] = [:]
) = #externalMacro(module: "CoreDataMacrosPlugin", type: "ManagedMacro")
