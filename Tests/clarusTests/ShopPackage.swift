import Foundation
import TestSupport

extension TemporaryFolder {
  /// Writes a version of the package `Shop.xcdatamodeld` with one entity. Returns its place.
  @discardableResult
  func writeShop(_ version: String, _ attributes: String, entity: String = "Item") throws -> URL {
    try writeModel(
      "Shop.xcdatamodeld/\(version).xcdatamodel",
      "<entity name=\"\(entity)\" representedClassName=\"Shop\(entity)\" syncable=\"YES\">\(attributes)</entity>"
    )
  }

  /// Writes the source of a model with these elements. Returns its place.
  @discardableResult
  func writeModel(_ path: String, _ elements: String) throws -> URL {
    let model: URL = file(path)
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    try """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      \(elements)
    </model>
    """.write(to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
    return model
  }
}
