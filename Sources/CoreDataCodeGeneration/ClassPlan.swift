import CoreDataModel

/// What is written for one class: everything about names and types is decided here, and rendered later.
struct ClassPlan {
  /// The mode of the model's inspector.
  enum Mode {
    case wholeClass
    case category
  }

  var name: ClassName
  var mode: Mode
  /// The text of the superclass.
  var superclass: String
  /// The entities of the class; one as a rule.
  var entities: [String]
  /// Whether the class conforms to `Identifiable` by a generated superclass already.
  var inheritsIdentity: Bool
  /// Whether a class of the model inherits from it.
  var hasSubclasses: Bool
  var attributes: [PropertyPlan]
  var relationships: [PropertyPlan]
  var finders: [FinderPlan] = []
  /// The names of all properties of the entity, inherited ones included.
  var propertyNames: [String]
  /// Types with raw values that are declared with the class.
  var enumerations: [EnumerationPlan] = []

  var properties: [PropertyPlan] { attributes + relationships }
}

/// A property of a class.
struct PropertyPlan: Equatable {
  /// What kind of accessor reads and writes it.
  enum Kind: Equatable {
    /// A type that `managedValue` returns.
    case value
    /// An object of any class: transformable and undefined attributes.
    case object
    /// A type with raw values. `fallback`: the case for a missing value or an unknown raw value.
    case enumeration(raw: String, fallback: String?)
    case toOne
    case toMany(ToManyPlan)
    case fetched(member: String)
  }

  var name: String
  /// The type's text, `?` included.
  var type: String
  var kind: Kind

  var declaredName: String { SwiftNames.declared(name) }
}

/// A to-many relationship.
struct ToManyPlan: Equatable {
  /// The text of the members' class.
  var member: String
  var isOrdered: Bool
}

/// A type with raw values, declared by the user info of an attribute.
struct EnumerationPlan: Equatable {
  var name: String
  /// The type of the raw values: `Int16`, `String`.
  var raw: String
  /// Names of cases with the source text of their raw values.
  var cases: [Case]

  struct Case: Equatable {
    var name: String
    var value: String
  }
}

/// A function that executes a fetch request template.
struct FinderPlan: Equatable {
  struct Parameter: Equatable {
    var name: String
    var variable: String
    var type: String
    /// Whether the predicate compares with the raw value.
    var isEnumeration: Bool
  }

  enum Result: Equatable {
    case objects(String)
    case ids
    case dictionaries
    case count
  }

  var template: String
  var name: String
  var parameters: [Parameter]
  var result: Result
}
