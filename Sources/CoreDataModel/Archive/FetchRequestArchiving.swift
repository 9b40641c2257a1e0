import CoreDataPredicates
import Foundation

/// Fetch requests, of every result type, as the roots of archives.
///
/// Foundation archives objects by the names of their classes, and classes with type parameters have none off
/// Apple's platforms. So the functions below, which are more specific than Foundation's, write and read
/// requests (Decisions/0016 has the same for predicates).
public protocol FetchRequestArchiving: NSPersistentStoreRequest {}

extension NSFetchRequest: FetchRequestArchiving {
  /// Lets the predicates, expressions and sort descriptors of a decoded request be evaluated. Before, a fetch
  /// with it throws.
  ///
  /// An archive can come from any source, so first make sure that the request reads nothing that it
  /// shouldn't.
  public final func allowEvaluation() {
    predicate?.allowEvaluation()
    havingPredicate?.allowEvaluation()
    for descriptor in sortDescriptors ?? [] { descriptor.allowEvaluation() }
    for column in (propertiesToFetch ?? []) + (propertiesToGroupBy ?? []) {
      (column as? NSExpressionDescription)?.expression?.allowEvaluation()
    }
  }
}

extension NSKeyedArchiver {
  /// Archives a fetch request as Apple's framework does, with the name of its entity in place of the entity.
  ///
  /// - Throws: ``ModelFileError`` or `PredicateError` that names the part that can't be archived: a block, a
  ///   comparator, an object that is not `NSSecureCoding`.
  public static func archivedData<Request: FetchRequestArchiving>(
    withRootObject root: Request, requiringSecureCoding: Bool
  ) throws -> Data {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    guard let root = root as? any AnyFetchRequest else {
      throw DescriptionCoding.error("\(Request.self) is no NSFetchRequest.")
    }
    root.copyContents(into: request)
    return try ModelArchiveWriter.write(request)
  }
}

extension NSKeyedUnarchiver {
  /// The fetch request in an archive of Apple's framework or of Clarus. Its entity is found when it is
  /// executed, by its name; it can't be executed before `allowEvaluation()` if it has a predicate, an
  /// expression or a sort descriptor.
  ///
  /// - Throws: ``ModelFileError`` for data that is no such archive, however it was damaged or forged.
  public static func unarchivedObject<Result: NSFetchRequestResult>(
    ofClass type: NSFetchRequest<Result>.Type, from data: Data
  ) throws -> NSFetchRequest<Result>? {
    let request = NSFetchRequest<Result>()
    try ModelArchiveReader.readRequest(data).copyContents(into: request)
    return request
  }
}
