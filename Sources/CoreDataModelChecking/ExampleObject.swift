import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates

/// A placeholder for any object of an entity, or for any value of a composite attribute, while a predicate is
/// checked.
///
/// Two of them are equal only when they are identical, as objects are.
final class ExampleObject: PlaceholderValue {
  enum Form {
    case entity(NSEntityDescription)
    case composite(NSCompositeAttributeDescription)
  }

  let form: Form

  init(_ form: Form) {
    self.form = form
  }

  var kindName: String {
    switch form {
    case .entity(let entity): "an object of \(entity.name ?? "an entity without name")"
    case .composite(let attribute): "the composite value \(attribute.name)"
    }
  }

  var sibling: PredicateValue { .object(ObjectBox(ExampleObject(form))) }
}

/// An object among a predicate's constants that has an entity: a managed object, or the id of one.
package protocol EntityBearing: AnyObject {
  var entity: NSEntityDescription { get }
}

extension PredicateValue {
  static func example(of entity: NSEntityDescription) -> PredicateValue {
    .object(ObjectBox(ExampleObject(.entity(entity))))
  }

  /// The known type of an object value: the form of an example, or the entity of a real object.
  var exampleForm: ExampleObject.Form? {
    guard case .object(let box) = self else { return nil }
    if let example = box.value as? ExampleObject { return example.form }
    return (box.value as? any EntityBearing).map { .entity($0.entity) }
  }
}

extension NSAttributeDescription {
  /// An example of the attribute's values; nil where the model doesn't define their type.
  var exampleValue: PredicateValue? {
    switch attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: .integer(1)
    case .doubleAttributeType, .floatAttributeType: .double(1)
    case .decimalAttributeType: .decimal(1)
    case .booleanAttributeType: .bool(true)
    case .stringAttributeType: SampleEvaluation.text
    case .dateAttributeType: SampleEvaluation.date
    case .binaryDataAttributeType: SampleEvaluation.data
    case .UUIDAttributeType: SampleEvaluation.uuid
    case .URIAttributeType: SampleEvaluation.url
    case .compositeAttributeType:
      (self as? NSCompositeAttributeDescription).map { .object(ObjectBox(ExampleObject(.composite($0)))) }
    case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType: nil
    }
  }
}
