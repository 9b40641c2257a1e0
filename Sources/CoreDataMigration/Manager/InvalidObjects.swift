import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// What is migrated, as errors name it. In a chain of steps the manager's own source is a file in a hidden
/// folder.
struct MigrationSubject {
  let store: URL
  /// The versions of the step.
  let source: String
  let destination: String
  let isInferred: Bool
}

/// The objects that a migration has made and that are not valid in the destination model, counted by what is
/// wrong with them.
struct InvalidObjects {
  private struct Kind: Hashable {
    let entity: String
    let property: String
    let code: Int
    let isAttribute: Bool
  }

  /// Errors of some objects are kept, of the others only their number.
  private static let most: Int = 100
  private var kept: [any Error] = []
  private var kinds: [(kind: Kind, example: any Error, count: Int)] = []
  private var places: [Kind: Int] = [:]
  private var objectCount: Int = 0

  mutating func add(_ error: any Error, of object: NSManagedObject) {
    objectCount += 1
    if kept.count < Self.most { kept.append(error) }
    let details = (error as NSError).userInfo[NSDetailedErrorsKey] as? [any Error]
    for single in details ?? [error] {
      let single = single as NSError
      let property: String = single.userInfo[NSValidationKeyErrorKey] as? String ?? ""
      let kind = Kind(
        entity: object.entity.name ?? "", property: property, code: single.code,
        isAttribute: object.entity.attributesByName[property] != nil)
      if let place = places[kind] {
        kinds[place].count += 1
      } else {
        places[kind] = kinds.count
        kinds.append((kind, single, 1))
      }
    }
  }

  /// The error that ends the migration; nil if all objects are valid. Of one object it has the code of its
  /// failure.
  func error(of subject: MigrationSubject) -> CocoaError? {
    guard let first = kept.first as NSError? else { return nil }
    let sentences: [String] = kinds.prefix(5).map { kind, example, count in
      let objects: String = "\(count) \(count == 1 ? "object" : "objects")"
      if kind.code == NSValidationMissingMandatoryPropertyError {
        return "\(kind.entity).\(kind.property) is required, and \(objects) would have no value of it."
      }
      return "\(objects) of \(kind.entity): \(ErrorMessage.reason(of: example))"
    }
    let further: String = kinds.count > 5 ? " There are \(kinds.count - 5) further reasons." : ""
    let missing: [Kind] = kinds.map(\.kind).filter { $0.code == NSValidationMissingMandatoryPropertyError }
    let standard: String =
      missing.contains(where: \.isAttribute) ? "or a default value in the new model, " : ""
    let message = ErrorMessage(
      "The store \(subject.store.path) can't be migrated from \(subject.source) to \(subject.destination), because "
        + "\(objectCount) of the objects would not be valid. \(sentences.joined(separator: " "))\(further)",
      advice: subject.isInferred
        ? "Change the objects with the version that the store has, or the rules of the new model."
        : !missing.isEmpty
          ? "Give the property a value expression in the mapping model, \(standard)or set it in a migration policy."
          : "Give other values in the mapping model or in a migration policy.")
    if objectCount == 1 { return message.cocoaError(inPlaceOf: first, [NSUnderlyingErrorKey: first]) }
    return message.cocoaError(
      NSValidationMultipleErrorsError, [NSDetailedErrorsKey: kept, NSUnderlyingErrorKey: first])
  }
}
