import Foundation

/// A web service that keeps JSON records in memory, and notes the requests that it gets.
public final class RecordService: @unchecked Sendable {
  // Sendable: `records`, `metadata`, `lastID` and `requests` are guarded by `lock`.

  private let lock = NSLock()
  private var records: [String: [String: Any]] = [:]
  private var metadata: [String: Any] = [:]
  private var lastID = 0
  private var requests: [String] = []
  private var listener: Listener?

  public init() {}

  /// Starts to answer, at a free port of this machine. Returns the service's URL.
  public func start() throws -> URL {
    let listener = try Listener { [self] request in answer(request) }
    self.listener = listener
    return URL(string: "http://127.0.0.1:\(listener.port)/") ?? URL(fileURLWithPath: "/")
  }

  /// The requests since the last call.
  public func takeRequests() -> [String] {
    lock.withLock {
      defer { requests = [] }
      return requests
    }
  }

  /// Removes everything.
  public func clear() {
    lock.withLock { (records, metadata, requests) = ([:], [:], []) }
  }

  private func answer(_ request: HTTPRequest) -> HTTPAnswer {
    lock.withLock {
      requests.append("\(request.method) \(request.target)")
      let parts: [String] = request.path.split(separator: "/").map(String.init)
      switch (request.method, parts.first, parts.count) {
      case ("GET", "metadata", 1): return HTTPAnswer(200, metadata)
      case ("GET", "records", 1):
        let entities: [String] = request.query.filter { $0.name == "entity" }.map(\.value)
        let found: [[String: Any]] = records.values.filter {
          entities.contains($0["entity"] as? String ?? "")
        }
        return HTTPAnswer(200, ["records": found])
      case ("GET", "records", 2): return records[parts[1]].map { HTTPAnswer(200, $0) } ?? HTTPAnswer(404, [:])
      case ("POST", "ids", 1):
        let count: Int = request.json["count"] as? Int ?? 0
        defer { lastID += count }
        return HTTPAnswer(200, ["ids": (0..<count).map { "r\(lastID + $0 + 1)" }])
      case ("POST", "changes", 1): return change(request.json)
      default: return HTTPAnswer(400, ["error": "There is nothing at \(request.method) \(request.target)."])
      }
    }
  }

  /// Writes records, each with the version that it must still have (0: it is new), and deletes others.
  private func change(_ changes: [String: Any]) -> HTTPAnswer {
    let written: [[String: Any]] = changes["write"] as? [[String: Any]] ?? []
    for record in written {
      guard let id = record["id"] as? String, let expected = record["version"] as? Int else {
        return HTTPAnswer(400, ["error": "A record has no id or no version."])
      }
      let present: Int = records[id]?["version"] as? Int ?? 0
      if present != expected { return HTTPAnswer(409, ["id": id, "version": present]) }
    }
    var versions: [String: Int] = [:]
    for var record in written {
      guard let id = record["id"] as? String, let version = record["version"] as? Int else { continue }
      record["version"] = version + 1
      versions[id] = version + 1
      records[id] = record
    }
    for id in changes["delete"] as? [String] ?? [] { records[id] = nil }
    if let new = changes["metadata"] as? [String: Any] { metadata = new }
    return HTTPAnswer(200, ["versions": versions])
  }
}
