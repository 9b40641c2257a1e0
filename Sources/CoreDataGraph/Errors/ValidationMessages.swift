import CoreDataModel
import CoreDataPredicates
import Foundation

/// The texts of validation errors.
///
/// The description for users is a sentence with names as in the model's `localizationDictionary`:
/// `Property/name/Entity/Person` or `Property/name` for the property, `ErrorString/is too long` for the
/// problem, or the warning given with the validation predicate. The failure reason, for logs, names entity
/// and property and gives the exact problem.
struct ValidationMessages {
  let entity: NSEntityDescription
  let property: String

  /// - Parameters:
  ///   - warning: the model's, in place of the sentence for the code.
  ///   - detail: the exact problem, as part of a sentence.
  func message(_ code: Int, warning: String?, detail: String?, advice: String?) -> ErrorMessage {
    let plain: String = "\(plainSubject) \(ValidationMessages.sentence(for: code))"
    let reason: String = detail.map { "\(plain): \($0)" } ?? plain
    if let warning { return ErrorMessage(reason, advice: advice, whole: sentence(of: warning)) }
    let translated: String = "\(subject) \(localized(ValidationMessages.sentence(for: code)))"
    return ErrorMessage(reason, advice: advice, whole: translated == plain ? nil : translated)
  }

  /// A warning describes the problem of the property ("has to begin at home"), or is a complete sentence,
  /// which begins with a capital letter, or is in a script without them.
  private func sentence(of warning: String) -> String {
    let text: String = localized(warning)
    // As in Apple's own sentences.
    let placeholder: String = "%{PROPERTY}@"
    if text.contains(placeholder) { return text.replacingOccurrences(of: placeholder, with: subject) }
    if text.hasPrefix(property + " ") { return subject + text.dropFirst(property.count) }
    return text.first?.isLowercase == true ? "\(subject) \(text)" : text
  }

  private func word(_ key: String) -> String? { entity.managedObjectModel.localizationDictionary?[key] }

  private var plainSubject: String { "\(entity.name ?? "").\(property)" }

  private var subject: String {
    // The dictionary names the property by the entity that declares it, as Apple's do, or by a sub-entity.
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
