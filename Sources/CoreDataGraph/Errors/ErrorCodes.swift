// swift-format-ignore-file: AlwaysUseLowerCamelCase
// These are Apple's names, to the letter.

import Foundation

// Apple's error codes, in both spellings: the C constants and the names in `CocoaError.Code`. All belong to
// `NSCocoaErrorDomain`. See Apple's page [Core Data
// Errors](https://developer.apple.com/documentation/coredata/core-data-errors).

/// Generic validation failure; also the code of a failed validation predicate of a property without a more
/// specific code.
public let NSManagedObjectValidationError: Int = 1550
/// A uniqueness constraint of the entity is violated by the objects being validated.
public let NSManagedObjectConstraintValidationError: Int = 1551
/// Container error: several validations failed in one operation; the individual errors are in an array under
/// NSDetailedErrorsKey.
public let NSValidationMultipleErrorsError: Int = 1560
/// A non-optional property holds nil.
public let NSValidationMissingMandatoryPropertyError: Int = 1570
/// A to-many relationship has fewer members than its minCount.
public let NSValidationRelationshipLacksMinimumCountError: Int = 1580
/// A to-many relationship has more members than its maxCount.
public let NSValidationRelationshipExceedsMaximumCountError: Int = 1590
/// Deleting is refused because a relationship with the deny rule still has members.
public let NSValidationRelationshipDeniedDeleteError: Int = 1600
/// A numeric value is above the allowed maximum.
public let NSValidationNumberTooLargeError: Int = 1610
/// A numeric value is below the allowed minimum.
public let NSValidationNumberTooSmallError: Int = 1620
/// A date is after the allowed latest date.
public let NSValidationDateTooLateError: Int = 1630
/// A date is before the allowed earliest date.
public let NSValidationDateTooSoonError: Int = 1640
/// A date does not fit the required date pattern.
public let NSValidationInvalidDateError: Int = 1650
/// A string is longer than allowed.
public let NSValidationStringTooLongError: Int = 1660
/// A string is shorter than allowed.
public let NSValidationStringTooShortError: Int = 1670
/// A string does not match the required regular expression.
public let NSValidationStringPatternMatchingError: Int = 1680
/// A URI attribute holds a URL that cannot be turned into a string.
public let NSValidationInvalidURIError: Int = 1690
/// The lock of a context could not be taken.
public let NSManagedObjectContextLockingError: Int = 132000
/// The lock of a coordinator could not be taken.
public let NSPersistentStoreCoordinatorLockingError: Int = 132010
/// A fault was fired for an object whose row no longer exists although its store is reachable (also what
/// existingObject(with:) reports).
public let NSManagedObjectReferentialIntegrityError: Int = 133000
/// An object about to be saved refers through a relationship to an object in another store.
public let NSManagedObjectExternalRelationshipError: Int = 133010
/// The merge policy could not resolve an optimistic-locking conflict; conflicts are under
/// NSPersistentStoreSaveConflictsErrorKey.
public let NSManagedObjectMergeError: Int = 133020
/// The merge policy could not resolve one or more uniqueness-constraint conflicts.
public let NSManagedObjectConstraintMergeError: Int = 133021
/// Unknown store type, or a file whose format or version is not recognised.
public let NSPersistentStoreInvalidTypeError: Int = 134000
/// A store was opened with a type other than the one it really has.
public let NSPersistentStoreTypeMismatchError: Int = 134010
/// The store reported a database-level failure during save (missing table, no permission and the like), or
/// the configuration cannot be used with the store.
public let NSPersistentStoreIncompatibleSchemaError: Int = 134020
/// Unclassified failure while saving: something the store depends on returned an error.
public let NSPersistentStoreSaveError: Int = 134030
/// Some of several stores failed to save; the affected stores and objects are in userInfo.
public let NSPersistentStoreIncompleteSaveError: Int = 134040
/// A merge conflict occurred during a save and was not resolved; conflicts are in userInfo.
public let NSPersistentStoreSaveConflictsError: Int = 134050
/// General Core Data error without a better code.
public let NSCoreDataError: Int = 134060
/// A store operation (add, remove, migrate, request) failed.
public let NSPersistentStoreOperationError: Int = 134070
/// The store could not be opened.
public let NSPersistentStoreOpenError: Int = 134080
/// No connection to the store within the time of NSPersistentStoreTimeoutOption.
public let NSPersistentStoreTimeoutError: Int = 134090
/// A store was given a request of a type it does not implement.
public let NSPersistentStoreUnsupportedRequestTypeError: Int = 134091
/// The version hashes recorded in the store differ from those of the model in use.
public let NSPersistentStoreIncompatibleVersionHashError: Int = 134100
/// General migration failure.
public let NSMigrationError: Int = 134110
/// The migrated data would violate a uniqueness constraint of the destination model.
public let NSMigrationConstraintViolationError: Int = 134111
/// Migration stopped because it was cancelled.
public let NSMigrationCancelledError: Int = 134120
/// No model was found that matches the store being migrated.
public let NSMigrationMissingSourceModelError: Int = 134130
/// No mapping model leads from the source to the destination model.
public let NSMigrationMissingMappingModelError: Int = 134140
/// Problem with the source store during migration.
public let NSMigrationManagerSourceStoreError: Int = 134150
/// Problem with the destination store during migration.
public let NSMigrationManagerDestinationStoreError: Int = 134160
/// An entity migration policy failed while being run.
public let NSEntityMigrationPolicyError: Int = 134170
/// General SQLite failure; the SQLite result code is in userInfo under NSSQLiteErrorDomain.
public let NSSQLiteError: Int = 134180
/// No mapping model could be inferred between the two models.
public let NSInferredMappingModelError: Int = 134190
/// Failure while importing Spotlight external records (deprecated feature).
public let NSExternalRecordImportError: Int = 134200
/// The history token passed to a history request no longer refers to the kept history.
public let NSPersistentHistoryTokenExpiredError: Int = 134301
/// A model reference of a staged migration could not be found or instantiated.
public let NSManagedObjectModelReferenceNotFoundError: Int = 134504
/// The metadata of the store must first be brought up to date before staged migration can be used.
public let NSStagedMigrationFrameworkVersionMismatchError: Int = 134505
/// The staged migration would have to go backwards in the ordering of the stages.
public let NSStagedMigrationBackwardMigrationError: Int = 134506

extension CocoaError.Code {
  public static let managedObjectValidation = CocoaError.Code(rawValue: 1550)
  public static let validationMultipleErrors = CocoaError.Code(rawValue: 1560)
  public static let validationMissingMandatoryProperty = CocoaError.Code(rawValue: 1570)
  public static let validationRelationshipLacksMinimumCount = CocoaError.Code(rawValue: 1580)
  public static let validationRelationshipExceedsMaximumCount = CocoaError.Code(rawValue: 1590)
  public static let validationRelationshipDeniedDelete = CocoaError.Code(rawValue: 1600)
  public static let validationNumberTooLarge = CocoaError.Code(rawValue: 1610)
  public static let validationNumberTooSmall = CocoaError.Code(rawValue: 1620)
  public static let validationDateTooLate = CocoaError.Code(rawValue: 1630)
  public static let validationDateTooSoon = CocoaError.Code(rawValue: 1640)
  public static let validationInvalidDate = CocoaError.Code(rawValue: 1650)
  public static let validationStringTooLong = CocoaError.Code(rawValue: 1660)
  public static let validationStringTooShort = CocoaError.Code(rawValue: 1670)
  public static let validationStringPatternMatching = CocoaError.Code(rawValue: 1680)
  public static let managedObjectContextLocking = CocoaError.Code(rawValue: 132000)
  public static let persistentStoreCoordinatorLocking = CocoaError.Code(rawValue: 132010)
  public static let managedObjectReferentialIntegrity = CocoaError.Code(rawValue: 133000)
  public static let managedObjectExternalRelationship = CocoaError.Code(rawValue: 133010)
  public static let managedObjectMerge = CocoaError.Code(rawValue: 133020)
  public static let managedObjectConstraintMerge = CocoaError.Code(rawValue: 133021)
  public static let persistentStoreInvalidType = CocoaError.Code(rawValue: 134000)
  public static let persistentStoreTypeMismatch = CocoaError.Code(rawValue: 134010)
  public static let persistentStoreIncompatibleSchema = CocoaError.Code(rawValue: 134020)
  public static let persistentStoreSave = CocoaError.Code(rawValue: 134030)
  public static let persistentStoreIncompleteSave = CocoaError.Code(rawValue: 134040)
  public static let persistentStoreSaveConflicts = CocoaError.Code(rawValue: 134050)
  public static let coreData = CocoaError.Code(rawValue: 134060)
  public static let persistentStoreOperation = CocoaError.Code(rawValue: 134070)
  public static let persistentStoreOpen = CocoaError.Code(rawValue: 134080)
  public static let persistentStoreTimeout = CocoaError.Code(rawValue: 134090)
  public static let persistentStoreUnsupportedRequestType = CocoaError.Code(rawValue: 134091)
  public static let persistentStoreIncompatibleVersionHash = CocoaError.Code(rawValue: 134100)
  public static let migration = CocoaError.Code(rawValue: 134110)
  public static let migrationCancelled = CocoaError.Code(rawValue: 134120)
  public static let migrationMissingSourceModel = CocoaError.Code(rawValue: 134130)
  public static let migrationMissingMappingModel = CocoaError.Code(rawValue: 134140)
  public static let migrationManagerSourceStore = CocoaError.Code(rawValue: 134150)
  public static let migrationManagerDestinationStore = CocoaError.Code(rawValue: 134160)
  public static let entityMigrationPolicy = CocoaError.Code(rawValue: 134170)
  public static let sqlite = CocoaError.Code(rawValue: 134180)
  public static let inferredMappingModel = CocoaError.Code(rawValue: 134190)
  public static let externalRecordImport = CocoaError.Code(rawValue: 134200)
}

extension CocoaError {
  public static let managedObjectValidation = CocoaError.Code(rawValue: 1550)
  public static let validationMultipleErrors = CocoaError.Code(rawValue: 1560)
  public static let validationMissingMandatoryProperty = CocoaError.Code(rawValue: 1570)
  public static let validationRelationshipLacksMinimumCount = CocoaError.Code(rawValue: 1580)
  public static let validationRelationshipExceedsMaximumCount = CocoaError.Code(rawValue: 1590)
  public static let validationRelationshipDeniedDelete = CocoaError.Code(rawValue: 1600)
  public static let validationNumberTooLarge = CocoaError.Code(rawValue: 1610)
  public static let validationNumberTooSmall = CocoaError.Code(rawValue: 1620)
  public static let validationDateTooLate = CocoaError.Code(rawValue: 1630)
  public static let validationDateTooSoon = CocoaError.Code(rawValue: 1640)
  public static let validationInvalidDate = CocoaError.Code(rawValue: 1650)
  public static let validationStringTooLong = CocoaError.Code(rawValue: 1660)
  public static let validationStringTooShort = CocoaError.Code(rawValue: 1670)
  public static let validationStringPatternMatching = CocoaError.Code(rawValue: 1680)
  public static let managedObjectContextLocking = CocoaError.Code(rawValue: 132000)
  public static let persistentStoreCoordinatorLocking = CocoaError.Code(rawValue: 132010)
  public static let managedObjectReferentialIntegrity = CocoaError.Code(rawValue: 133000)
  public static let managedObjectExternalRelationship = CocoaError.Code(rawValue: 133010)
  public static let managedObjectMerge = CocoaError.Code(rawValue: 133020)
  public static let managedObjectConstraintMerge = CocoaError.Code(rawValue: 133021)
  public static let persistentStoreInvalidType = CocoaError.Code(rawValue: 134000)
  public static let persistentStoreTypeMismatch = CocoaError.Code(rawValue: 134010)
  public static let persistentStoreIncompatibleSchema = CocoaError.Code(rawValue: 134020)
  public static let persistentStoreSave = CocoaError.Code(rawValue: 134030)
  public static let persistentStoreIncompleteSave = CocoaError.Code(rawValue: 134040)
  public static let persistentStoreSaveConflicts = CocoaError.Code(rawValue: 134050)
  public static let coreData = CocoaError.Code(rawValue: 134060)
  public static let persistentStoreOperation = CocoaError.Code(rawValue: 134070)
  public static let persistentStoreOpen = CocoaError.Code(rawValue: 134080)
  public static let persistentStoreTimeout = CocoaError.Code(rawValue: 134090)
  public static let persistentStoreUnsupportedRequestType = CocoaError.Code(rawValue: 134091)
  public static let persistentStoreIncompatibleVersionHash = CocoaError.Code(rawValue: 134100)
  public static let migration = CocoaError.Code(rawValue: 134110)
  public static let migrationCancelled = CocoaError.Code(rawValue: 134120)
  public static let migrationMissingSourceModel = CocoaError.Code(rawValue: 134130)
  public static let migrationMissingMappingModel = CocoaError.Code(rawValue: 134140)
  public static let migrationManagerSourceStore = CocoaError.Code(rawValue: 134150)
  public static let migrationManagerDestinationStore = CocoaError.Code(rawValue: 134160)
  public static let entityMigrationPolicy = CocoaError.Code(rawValue: 134170)
  public static let sqlite = CocoaError.Code(rawValue: 134180)
  public static let inferredMappingModel = CocoaError.Code(rawValue: 134190)
  public static let externalRecordImport = CocoaError.Code(rawValue: 134200)
}

// Keys of `userInfo`.

/// Array of NSError: the individual failures of a multiple-errors error.
public let NSDetailedErrorsKey: String = "NSDetailedErrors"
/// The managed object that failed validation.
public let NSValidationObjectErrorKey: String = "NSValidationErrorObject"
/// Name of the property that failed validation.
public let NSValidationKeyErrorKey: String = "NSValidationErrorKey"
/// The predicate that evaluated to false, for predicate-based validation.
public let NSValidationPredicateErrorKey: String = "NSValidationErrorPredicate"
/// The offending value, when not nil.
public let NSValidationValueErrorKey: String = "NSValidationErrorValue"
/// Array of the stores the error concerns.
public let NSAffectedStoresErrorKey: String = "NSAffectedStoresErrorKey"
/// Array of the objects the error concerns.
public let NSAffectedObjectsErrorKey: String = "NSAffectedObjectsErrorKey"
/// Array of NSMergeConflict (or NSConstraintConflict for 133021).
public let NSPersistentStoreSaveConflictsErrorKey: String = "conflictList"
/// Error domain for raw SQLite result codes; also used as a userInfo key whose value is the result code.
public let NSSQLiteErrorDomain: String = "NSSQLiteErrorDomain"
