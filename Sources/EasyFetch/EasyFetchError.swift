import CoreData

/// Why a fetch, an insertion or a look-up of this module failed. Errors of Core Data itself are thrown
/// unchanged.
public struct EasyFetchError: LocalizedError, CustomStringConvertible, Sendable {
  /// The kind of mistake.
  public struct Reason: Hashable, Sendable {
    private enum Kind: Sendable {
      case noModel, unknownEntity, unknownKey, unknownTemplate, unknownObject, notInsertable
    }

    private let kind: Kind

    /// The context has no coordinator, so there is no model to look anything up in.
    public static let noModel = Reason(kind: .noModel)
    /// The model has no entity of this name, or none for this class.
    public static let unknownEntity = Reason(kind: .unknownEntity)
    /// The entity has no property of this name.
    public static let unknownKey = Reason(kind: .unknownKey)
    /// The model has no fetch request template of this name.
    public static let unknownTemplate = Reason(kind: .unknownTemplate)
    /// The URI identifies no object in one of the coordinator's stores.
    public static let unknownObject = Reason(kind: .unknownObject)
    /// Objects of this entity, or with these values, can't be made.
    public static let notInsertable = Reason(kind: .notInsertable)
  }

  public let reason: Reason
  /// What is wrong, which names exist, and what to do.
  public let description: String

  init(_ reason: Reason, _ description: String) {
    self.reason = reason
    self.description = description
  }

  public var errorDescription: String? { description }
}

/// A call for one object found several. The exception of MTCDUtilities, as an error.
public struct MTTooManyEntitiesReturnedException: LocalizedError, CustomStringConvertible, Sendable {
  public let entityName: String
  /// The criteria: `id == 42`.
  public let criteria: String
  /// How many objects there are.
  public let count: Int

  public var description: String {
    "Too many entities returned: \(count) objects of entity \(entityName) match \(criteria), where one at most was expected. "
      + "Ask for all of them with objects(forEntityNamed:…), or match more keys."
  }

  public var errorDescription: String? { description }
}
