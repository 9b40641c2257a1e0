// swift-format-ignore-file: AlwaysUseLowerCamelCase
// These are Apple's names, to the letter.

import Foundation

// Store types, option keys and metadata keys, Apple's spelling.

public let NSSQLiteStoreType: String = "SQLite"
public let NSInMemoryStoreType: String = "InMemory"
public let NSBinaryStoreType: String = "Binary"
public let NSXMLStoreType: String = "XML"

/// Metadata: the type of a store.
public let NSStoreTypeKey: String = "NSStoreType"
/// Metadata: the UUID of a store.
public let NSStoreUUIDKey: String = "NSStoreUUID"
/// Metadata: entity name → version hash.
public let NSStoreModelVersionHashesKey: String = "NSStoreModelVersionHashes"
public let NSStoreModelVersionIdentifiersKey: String = "NSStoreModelVersionIdentifiers"
/// Metadata: the checksum of the whole model.
public let NSPersistentStoreModelVersionChecksumKey: String = "NSStoreModelVersionChecksumKey"
public let NSPersistentStoreOSCompatibility: String = "NSPersistentStoreOSCompatibility"

/// Option: open without ever writing; the file, its journal included, stays byte for byte the same.
public let NSReadOnlyPersistentStoreOption: String = "NSReadOnlyPersistentStoreOption"
/// Option: a dictionary of SQLite pragmas.
public let NSSQLitePragmasOption: String = "NSSQLitePragmasOption"
/// Option: a number, true to compare an XML document with what an XML store consists of when it is added:
/// elements and their attributes, none missing and none unknown, and references that lead to objects of the
/// file. Without it unknown parts are skipped, and the next save leaves them out. Values, ids, entities and
/// properties are checked in any case.
///
/// See Apple's page
/// [NSValidateXMLStoreOption](https://developer.apple.com/documentation/coredata/nsvalidatexmlstoreoption).
public let NSValidateXMLStoreOption: String = "NSValidateXMLStoreOption"
/// Option: a number, true to rebuild a SQLite file when it is added, so that it gives back the space of
/// deleted rows and its pages are in order. Costs reading and writing all of it, and the same space once more
/// on the disk meanwhile. Throws if there is no such space, or if others keep the store locked. Stores that
/// are read-only or in memory are left as they are.
///
/// See Apple's page
/// [NSSQLiteManualVacuumOption](https://developer.apple.com/documentation/coredata/nssqlitemanualvacuumoption).
public let NSSQLiteManualVacuumOption: String = "NSSQLiteManualVacuumOption"
/// Option: a number, true to collect statistics about a SQLite store's indexes when it is added, which the
/// database uses to choose among them. Costs reading all indexes.
///
/// See Apple's page
/// [NSSQLiteAnalyzeOption](https://developer.apple.com/documentation/coredata/nssqliteanalyzeoption).
public let NSSQLiteAnalyzeOption: String = "NSSQLiteAnalyzeOption"
/// Option: a number, how many connections read a SQLite store at the same time, beside the one that writes.
/// Unless set, as many as the machine has processors, and at least four; each is opened when it is needed.
///
/// See Apple's page
/// [NSPersistentStoreConnectionPoolMaxSizeKey](https://developer.apple.com/documentation/coredata/nspersistentstoreconnectionpoolmaxsizekey).
public let NSPersistentStoreConnectionPoolMaxSizeKey: String = "NSPersistentStoreConnectionPoolMaxSize"
/// Option: a number, false to throw when there is no store at the URL instead of creating one. An addition of
/// Clarus; Apple's framework ignores it. See ``NSPersistentStoreDescription/createsStoreIfMissing``.
public let CreatesStoreIfMissingOption: String = "CreatesStoreIfMissingOption"
/// Whether saves of a store do everything and are undone at their end, which throws `SaveRehearsed`: for dry
/// runs.
package let RehearsesSavesOption: String = "clarus.rehearsesSaves"
/// Whether saves of a store that is written as a whole stay in memory until it is told to write: for
/// migrations, which save in parts.
package let FillsBeforeWritingOption: String = "clarus.fillsBeforeWriting"
/// Option: post `NSPersistentStoreRemoteChange` when another process has saved. That notification is not
/// implemented yet: the option is accepted, and a message on standard error, once for each store, states that
/// nothing is posted.
///
/// Compatibility: accepted without effect yet.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey: String =
  "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// Option: seconds to wait for a locked store.
public let NSPersistentStoreTimeoutOption: String = "NSPersistentStoreTimeoutOption"
/// Option of ``NSPersistentStoreCoordinator/destroyPersistentStore(at:type:options:)``: a number, true to
/// destroy a store even if it is damaged, or if others keep it locked; what they save then is lost. A file
/// that is no SQLite database is never destroyed.
public let NSPersistentStoreForceDestroyOption: String = "NSPersistentStoreForceDestroyOption"
/// Option: migrate a store of another model version. Opening such a store still fails with an explanation:
/// migration is not implemented yet.
public let NSMigratePersistentStoresAutomaticallyOption: String =
  "NSMigratePersistentStoresAutomaticallyOption"
/// Option: infer how to migrate.
public let NSInferMappingModelAutomaticallyOption: String = "NSInferMappingModelAutomaticallyOption"
/// Option: open without comparing version hashes.
public let NSIgnorePersistentStoreVersioningOption: String = "NSIgnorePersistentStoreVersioningOption"
/// Option of binary stores: the classes, beside those of property lists, that values of transformable
/// attributes may have in the file; an `NSSet` or an array of classes. A file with an object of another class
/// is refused with an error that names it. Without the option the attributes' value transformers decide, each
/// when its value is read.
///
/// Opening a store never makes an instance of a class from the file: values of attributes are read by their
/// type, and the objects of transformable attributes are left to their transformers, as in SQLite stores.
///
/// See Apple's page
/// [NSBinaryStoreSecureDecodingClasses](https://developer.apple.com/documentation/coredata/nsbinarystoresecuredecodingclasses).
public let NSBinaryStoreSecureDecodingClasses: String = "NSBinaryStoreSecureDecodingClasses"
/// Option of binary stores: a number, true to accept any class in the file, so that
/// ``NSBinaryStoreSecureDecodingClasses`` has no effect. Nothing becomes insecure by it: value transformers
/// still make instances only of the classes that they allow.
///
/// See Apple's page
/// [NSBinaryStoreInsecureDecodingCompatibilityOption](https://developer.apple.com/documentation/coredata/nsbinarystoreinsecuredecodingcompatibilityoption).
public let NSBinaryStoreInsecureDecodingCompatibilityOption: String =
  "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// Option: keep persistent history. History is not implemented yet: a store without history is opened and
/// keeps none, which is stated once on standard error; a store that keeps history is refused for writing,
/// because its history would have gaps. Without the option such a store is opened read-only, as Apple's
/// framework does.
///
/// Compatibility: accepted without effect yet.
///
/// See Apple's page
/// [NSPersistentHistoryTrackingKey](https://developer.apple.com/documentation/coredata/nspersistenthistorytrackingkey).
public let NSPersistentHistoryTrackingKey: String = "NSPersistentHistoryTrackingKey"
/// Option: an `NSStagedMigrationManager`, whose stages migrate the store when it is added.
///
/// See Apple's page
/// [NSPersistentStoreStagedMigrationManagerOptionKey](https://developer.apple.com/documentation/coredata/nspersistentstorestagedmigrationmanageroptionkey).
public let NSPersistentStoreStagedMigrationManagerOptionKey: String =
  "NSPersistentStoreStagedMigrationManagerOptionKey"
/// Option: a number, true to let a lightweight migration postpone what takes long. Clarus does all of it at
/// once, in one transaction, so there is nothing to finish later and the option changes nothing
/// (Decisions/0126).
///
/// See Apple's page
/// [NSPersistentStoreDeferredLightweightMigrationOptionKey](https://developer.apple.com/documentation/coredata/nspersistentstoredeferredlightweightmigrationoptionkey).
public let NSPersistentStoreDeferredLightweightMigrationOptionKey: String =
  "NSPersistentStoreDeferredLightweightMigrationOptionKey"
