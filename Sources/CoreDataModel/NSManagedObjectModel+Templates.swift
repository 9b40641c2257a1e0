import CoreDataPredicates
import Foundation

extension NSManagedObjectModel {
  /// A copy of a template with values in place of its predicate's `$variables`; nil if there is no template
  /// of that name.
  ///
  /// Every variable needs a value; `NSNull` stands for nil. Stops the program if one is missing, where Apple
  /// raises an exception; check names against ``fetchRequestTemplate(forName:)`` first where they are not
  /// known.
  public final func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  )
    -> NSFetchRequest<any NSFetchRequestResult>?
  {
    guard let template = fetchRequestTemplate(forName: name) else { return nil }
    let request = template.copy() as! NSFetchRequest<any NSFetchRequestResult>
    if let predicate = template.predicate {
      let missing = predicate.predicateNode().variables.subtracting(variables.keys)
      precondition(
        missing.isEmpty,
        "Fetch request template '\(name)' needs values for \(missing.sorted().map { "$" + $0 }.joined(separator: ", "))."
      )
      request.predicate = predicate.withSubstitutionVariables(variables)
    }
    return request
  }
}
