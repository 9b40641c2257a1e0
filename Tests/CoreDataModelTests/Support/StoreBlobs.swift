import Foundation

/// Reads two blobs out of SQLite stores with the sqlite3 command, so that this module's tests need no SQLite.
enum StoreBlobs {
  private static let tool = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  static var isPossible: Bool { tool != nil }

  static func stores() -> [URL] {
    guard let root = FixtureFolder.url?.appendingPathComponent("stores-sqlite"),
      let walk = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
    else { return [] }
    return walk.compactMap { $0 as? URL }
      .filter { (try? FileHandle(forReadingFrom: $0).read(upToCount: 6)) == Data("SQLite".utf8) }
      .sorted { $0.path < $1.path }
  }

  /// The model cache and the metadata of a copy of the store; nil if it has no cache.
  static func read(_ url: URL) throws -> (model: Data, metadata: Data)? {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let copy = folder.appendingPathComponent("store")
    try FileManager.default.copyItem(at: url, to: copy)
    let journal = URL(fileURLWithPath: url.path + "-wal")
    if FileManager.default.fileExists(atPath: journal.path) {
      try FileManager.default.copyItem(at: journal, to: URL(fileURLWithPath: copy.path + "-wal"))
    }
    guard let model = try blob("SELECT hex(Z_CONTENT) FROM Z_MODELCACHE", copy), !model.isEmpty,
      let metadata = try blob("SELECT hex(Z_PLIST) FROM Z_METADATA", copy)
    else { return nil }
    return (model, metadata)
  }

  private static func blob(_ sql: String, _ store: URL) throws -> Data? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: tool ?? "")
    process.arguments = [store.path, sql]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return nil }
    var result = Data()
    var high: UInt8?
    for byte in text {
      guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { continue }
      if let first = high {
        result.append(first << 4 | UInt8(digit))
        high = nil
      } else {
        high = UInt8(digit)
      }
    }
    return result
  }
}
