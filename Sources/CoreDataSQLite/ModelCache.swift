import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB

/// The model inside a store: the blob of Apple's model cache.
enum ModelCache {
  struct Problem: Error {
    var reason: String
  }

  /// The model that a store carries. Throws `Problem` with the reason if it can't be read.
  static func read(_ database: Database, url: URL) throws -> NSManagedObjectModel {
    guard try database.hasTable(AppleBookkeeping.modelCache, url: url) else {
      throw Problem(
        reason: "The store has no table \(AppleBookkeeping.modelCache); stores from before 2012 don't.")
    }
    let select = try RawStatement(database, AppleBookkeeping.readModel, url: url)
    defer { select.reset() }
    guard try select.step(), let blob = select.data(0), !blob.isEmpty else {
      throw Problem(reason: "The store's \(AppleBookkeeping.modelCache) is empty.")
    }
    do {
      return try model(from: blob, url: url)
    } catch {
      throw Problem(reason: "The model in \(AppleBookkeeping.modelCache) can't be read: \(error)")
    }
  }

  /// The blob for a model; nil if the model holds something that can't be archived. A store works without it.
  static func blob(for model: NSManagedObjectModel) -> Data? { try? model.cachedModelBlob() }

  /// Decodes the model in a blob. Throws what is wrong with it.
  static func model(from blob: Data, url: URL) throws -> NSManagedObjectModel {
    try NSManagedObjectModel.load(cachedModelBlob: blob, source: url.path).model
  }
}
