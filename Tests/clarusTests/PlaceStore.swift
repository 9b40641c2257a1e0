import Foundation
import GRDB
import TestSupport

/// A store of places with an R-tree over latitude and longitude, of items at them, and its model's source.
struct PlaceStore {
  let folder: URL
  var path: String { file("Places.sqlite").path }
  var model: String { file("Places.xcdatamodel").path }
  static let tree: String = "Z_RT_Place_where"
  static let placeCount: Int = 200
  static let itemCount: Int = 20

  private static let source: String = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
      <entity name="Place" syncable="YES">
        <attribute name="latitude" attributeType="Double" optional="YES"/>
        <attribute name="longitude" attributeType="Double" optional="YES"/>
        <attribute name="name" attributeType="String" optional="YES"/>
        <relationship name="items" optional="YES" toMany="YES" destinationEntity="Item" inverseName="place" inverseEntity="Item"/>
        <fetchIndex name="where">
          <fetchIndexElement property="latitude" type="RTree" order="ascending"/>
          <fetchIndexElement property="longitude" type="RTree" order="ascending"/>
        </fetchIndex>
      </entity>
      <entity name="Item" syncable="YES">
        <attribute name="title" attributeType="String"/>
        <relationship name="place" optional="YES" maxCount="1" destinationEntity="Place" inverseName="items" inverseEntity="Place"/>
      </entity>
    </model>
    """

  struct Failure: Error { let reason: String }

  init() throws {
    folder = try TemporaryFolder().url
    try FileManager.default.createDirectory(at: file("Places.xcdatamodel"), withIntermediateDirectories: true)
    try Self.source.write(
      to: file("Places.xcdatamodel").appendingPathComponent("contents"), atomically: true, encoding: .utf8)
    let places: [String] = (1...Self.placeCount).map {
      #"{"$id": "Place/p\#($0)", "name": "place \#($0)", "latitude": \#(Double($0) / 10), "longitude": \#(-Double($0) / 10)}"#
    }
    let items: [String] = (1...Self.itemCount).map { #"{"title": "item \#($0)", "place": "Place/p\#($0)"}"# }
    let objects: URL = file("objects.json")
    try #"{"Place": [\#(places.joined(separator: ","))], "Item": [\#(items.joined(separator: ","))]}"#.write(
      to: objects, atomically: true, encoding: .utf8)
    let run = try CommandLineRun(["import", path, objects.path, "--create", "--model", model])
    if run.status != 0 { throw Failure(reason: run.errors) }
    try execute([])
  }

  func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

  /// Runs statements behind the store's back.
  func execute(_ statements: [String]) throws { try makeDatabase(file("Places.sqlite"), statements) }

  /// Overwrites pages of a table, chosen from the numbers of all that it has.
  func damage(_ table: String, _ choose: ([Int]) -> [Int]) throws {
    let queue = try DatabaseQueue(path: path)
    let root: Int = try queue.read {
      try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [table]) ?? 0
    }
    try queue.close()
    var bytes = try Data(contentsOf: file("Places.sqlite"))
    let size: Int = Int(bytes[16]) << 8 | Int(bytes[17])
    // An inner page names those below it in the last 4 bytes of its header and the first 4 of each cell.
    let start: Int = (root - 1) * size
    func number(_ offset: Int, _ length: Int) -> Int {
      bytes[start + offset..<start + offset + length].reduce(0) { $0 << 8 | Int($1) }
    }
    var pages: [Int] = [root]
    if bytes[start] == 5 {
      pages += (0..<number(3, 2)).map { number(number(12 + 2 * $0, 2), 4) } + [number(8, 4)]
    }
    for page in choose(pages) {
      bytes.replaceSubrange((page - 1) * size..<page * size, with: Data(repeating: 0xAA, count: size))
    }
    try bytes.write(to: file("Places.sqlite"))
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }
}
