import CoreData

/// What a fetch, an insertion or a look-up of this module can't do, and why. Errors of Core Data itself are passed on as they are.
public struct EasyFetchError: LocalizedError, CustomStringConvertible, Sendable {
  /// What kind of mistake it was.
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
    /// The URI is none of an object in one of the coordinator's stores.
    public static let unknownObject = Reason(kind: .unknownObject)
    /// Objects of this entity, or with these values, can't be made.
    public static let notInsertable = Reason(kind: .notInsertable)
  }

  public let reason: Reason
  /// What is wrong, what there is instead, and what to do.
  public let description: String

  init(_ reason: Reason, _ description: String) {
    self.reason = reason
    self.description = description
  }

  public var errorDescription: String? { description }
}

/// One object was asked for, and there are several. The exception of MTCDUtilities, thrown.
public struct MTTooManyEntitiesReturnedException: LocalizedError, CustomStringConvertible, Sendable {
  public let entityName: String
  /// What was asked for: `id == 42`.
  public let criteria: String
  /// How many objects there are.
  public let count: Int

  public var description: String {
    "Too many entities returned: \(count) objects of entity \(entityName) match \(criteria), where one at most was expected. "
      + "Ask for all of them with objects(forEntityNamed:…), or match more keys."
  }

  public var errorDescription: String? { description }
}
