import Foundation

/// One request: as much of HTTP/1.1 as the service needs.
struct HTTPRequest {
  let method: String
  /// Path and query, as they came.
  let target: String
  let path: String
  let query: [(name: String, value: String)]
  let json: [String: Any]

  /// nil for what is no request.
  init?(head: String, body: Data) {
    let words: [Substring] = head.prefix { $0 != "\r\n" && $0 != "\n" }.split(separator: " ")
    guard words.count >= 2 else { return nil }
    method = String(words[0])
    target = String(words[1])
    let parts = URLComponents(string: target)
    path = parts?.path ?? target
    query = (parts?.queryItems ?? []).map { ($0.name, $0.value ?? "") }
    json = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:]
  }

  /// How many bytes follow a head.
  static func bodyLength(_ head: String) -> Int {
    for line in head.split(whereSeparator: \.isNewline) {
      let parts: [Substring] = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, parts[0].lowercased() == "content-length" else { continue }
      return Int(parts[1].trimmingCharacters(in: .whitespaces)) ?? 0
    }
    return 0
  }
}

/// One answer, always JSON.
struct HTTPAnswer {
  let status: Int
  let json: [String: Any]

  init(_ status: Int, _ json: [String: Any]) {
    self.status = status
    self.json = json
  }

  var bytes: Data {
    let body: Data = (try? JSONSerialization.data(withJSONObject: json)) ?? Data("{}".utf8)
    let head: String =
      "HTTP/1.1 \(status) \(status < 300 ? "OK" : "Refused")\r\nContent-Type: application/json\r\n"
      + "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
    return Data(head.utf8) + body
  }
}
