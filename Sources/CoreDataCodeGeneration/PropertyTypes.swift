import CoreDataModel

/// The Swift types of properties, as Xcode chooses them.
struct PropertyTypes {
  /// Names of the standard types that a class of the model hides in the module of the program, so that they
  /// must be written with their module.
  let hidden: Set<String>

  private static let modules: [String: String] = [
    "String": "Swift", "Int16": "Swift", "Int32": "Swift", "Int64": "Swift", "Int": "Swift", "Bool": "Swift",
    "Double": "Swift", "Float": "Swift", "Set": "Swift", "Array": "Swift", "Sendable": "Swift",
    "Identifiable": "Swift", "CaseIterable": "Swift", "Date": "Foundation", "Data": "Foundation",
    "UUID": "Foundation", "URL": "Foundation", "TimeInterval": "Foundation", "NSNumber": "Foundation",
    "NSDecimalNumber": "Foundation", "NSObject": "Foundation", "NSSet": "Foundation",
    "NSOrderedSet": "Foundation", "NSIndexSet": "Foundation", "NSNull": "Foundation", "NSError": "Foundation",
    "IndexSet": "Foundation", "NSCocoaErrorDomain": "Foundation", "NSLocalizedDescriptionKey": "Foundation",
    "NSManagedObject": "CoreData", "NSFetchRequest": "CoreData", "NSManagedObjectContext": "CoreData",
    "NSManagedObjectID": "CoreData", "ManagedKey": "CoreData",
  ]

  /// The names that generated code uses.
  static var used: Set<String> { Set(modules.keys) }

  /// A standard type.
  func standard(_ name: String) -> String {
    guard hidden.contains(name), let module = Self.modules[name] else { return name }
    return "\(module).\(name)"
  }

  /// The type of raw values of an attribute; nil for attributes whose values are no raw values.
  func raw(_ attribute: NSAttributeDescription) -> String? {
    switch attribute.attributeType {
    case .integer16AttributeType: standard("Int16")
    case .integer32AttributeType: standard("Int32")
    case .integer64AttributeType: standard("Int64")
    case .stringAttributeType: standard("String")
    default: nil
    }
  }

  /// The type of an attribute. Objects are optional whether the attribute is or not: before the first save a
  /// required attribute may be missing too.
  func attribute(_ attribute: NSAttributeDescription) -> (type: String, kind: PropertyPlan.Kind) {
    let isScalar: Bool = attribute.usesScalarValueType ?? true
    func number(_ name: String) -> (String, PropertyPlan.Kind) {
      (isScalar ? standard(name) : standard("NSNumber") + "?", .value)
    }
    return switch attribute.attributeType {
    case .integer16AttributeType: number("Int16")
    case .integer32AttributeType: number("Int32")
    case .integer64AttributeType: number("Int64")
    case .doubleAttributeType: number("Double")
    case .floatAttributeType: number("Float")
    case .booleanAttributeType: number("Bool")
    case .decimalAttributeType: (standard("NSDecimalNumber") + "?", .value)
    case .dateAttributeType:
      attribute.usesScalarValueType == true
        ? (standard("TimeInterval"), .value) : (standard("Date") + "?", .value)
    case .stringAttributeType: (standard("String") + "?", .value)
    case .binaryDataAttributeType: (standard("Data") + "?", .value)
    case .UUIDAttributeType: (standard("UUID") + "?", .value)
    case .URIAttributeType: (standard("URL") + "?", .value)
    case .objectIDAttributeType: (standard("NSManagedObjectID") + "?", .object)
    case .compositeAttributeType: ("[\(standard("String")): Any]?", .object)
    case .transformableAttributeType, .undefinedAttributeType:
      (object(attribute.attributeValueClassName), .object)
    }
  }

  /// The class of a transformable attribute's values.
  private func object(_ className: String?) -> String {
    guard let text = className, SwiftNames.isTypeText(text) else { return standard("NSObject") + "?" }
    return text.hasSuffix("?") ? text : text + "?"
  }

  func toMany(_ plan: ToManyPlan, _ collections: CodeGenerationOptions.Collections) -> String {
    switch collections {
    case .foundation: standard(plan.isOrdered ? "NSOrderedSet" : "NSSet") + "?"
    case .swift: plan.isOrdered ? "[\(plan.member)]" : "\(standard("Set"))<\(plan.member)>"
    }
  }
}
