import CoreDataModel
import CoreDataPredicates
import Foundation

/// What validation errors say.
///
/// To people they say a sentence with names as the model's `localizationDictionary` has them:
/// `Property/name/Entity/Person` or `Property/name` for the property, `ErrorString/is too long` for what is
/// wrong with it, or the warning that stands beside the validation predicate. To whoever reads a log they
/// give the reason: entity, property, and what exactly is wrong.
struct ValidationWords {
  let entity: NSEntityDescription
  let property: String

  /// - Parameters:
  ///   - warning: the model's, in place of the sentence for the code.
  ///   - detail: what exactly is wrong, as part of a sentence.
  func message(_ code: Int, warning: String?, detail: String?, advice: String?) -> ErrorMessage {
    let plain: String = "\(plainSubject) \(ValidationWords.sentence(for: code))"
    let reason: String = detail.map { "\(plain): \($0)" } ?? plain
    if let warning { return ErrorMessage(reason, advice: advice, whole: sentence(of: warning)) }
    let translated: String = "\(subject) \(localized(ValidationWords.sentence(for: code)))"
    return ErrorMessage(reason, advice: advice, whole: translated == plain ? nil : translated)
  }

  /// A warning says what is wrong with the property ("has to begin at home"), or is a sentence of its own,
  /// which begins with a capital letter, or in a script without them.
  private func sentence(of warning: String) -> String {
    let text: String = localized(warning)
    // As Apple's own sentences are written.
    let placeholder: String = "%{PROPERTY}@"
    if text.contains(placeholder) { return text.replacingOccurrences(of: placeholder, with: subject) }
    if text.hasPrefix(property + " ") { return subject + text.dropFirst(property.count) }
    return text.first?.isLowercase == true ? "\(subject) \(text)" : text
  }

  private func word(_ key: String) -> String? { entity.managedObjectModel.localizationDictionary?[key] }

  private var plainSubject: String { "\(entity.name ?? "").\(property)" }

  private var subject: String {
    // Named by the entity that declares it, as Apple's dictionaries are, or by a sub-entity.
    var declaring: NSEntityDescription? = entity
    while let candidate = declaring {
      if let name = word("Property/\(property)/Entity/\(candidate.name ?? "")") { return name }
      declaring = candidate.superentity
    }
    return word("Property/\(property)") ?? plainSubject
  }

  private func localized(_ sentence: String) -> String { word("ErrorString/\(sentence)") ?? sentence }

  private static func sentence(for code: Int) -> String {
    switch code {
    case NSValidationMissingMandatoryPropertyError: "is a required value"
    case NSValidationRelationshipLacksMinimumCountError: "has too few objects"
    case NSValidationRelationshipExceedsMaximumCountError: "has too many objects"
    case NSValidationRelationshipDeniedDeleteError: "must be empty before the object can be deleted"
    case NSValidationNumberTooLargeError: "is too large"
    case NSValidationNumberTooSmallError: "is too small"
    case NSValidationDateTooLateError: "is too late"
    case NSValidationDateTooSoonError: "is too early"
    case NSValidationInvalidDateError: "is not a valid date"
    case NSValidationStringTooLongError: "is too long"
    case NSValidationStringTooShortError: "is too short"
    case NSValidationStringPatternMatchingError: "does not have the required form"
    case NSValidationInvalidURIError: "is not a valid address"
    default: "is not valid"
    }
  }
}
