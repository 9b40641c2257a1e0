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
/// Option: post `NSPersistentStoreRemoteChange` when another process has saved. That notification is not
/// implemented yet: the option is accepted, and a message on standard error, once for each store, states that
/// nothing is posted.
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
/// Option: keep persistent history. History is not implemented yet: a store without history is opened and
/// keeps none, which is stated once on standard error; a store that keeps history is refused for writing,
/// because its history would have gaps. Without the option such a store is opened read-only, as Apple's
/// framework does.
///
/// See Apple's page
/// [NSPersistentHistoryTrackingKey](https://developer.apple.com/documentation/coredata/nspersistenthistorytrackingkey).
public let NSPersistentHistoryTrackingKey: String = "NSPersistentHistoryTrackingKey"
