import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What the service has refused, or why it could not be asked.
public struct WebError: LocalizedError {
  /// 0 if the service could not be reached.
  public let status: Int
  public let errorDescription: String?
}

/// Requests to a service. Each waits for its answer: a store's methods return what they were asked for.
struct WebClient: Sendable {
  let base: URL

  func get(_ path: String, _ query: [(String, String)] = []) throws -> [String: Any] {
    var parts = URLComponents(url: base.appending(path: path), resolvingAgainstBaseURL: true)
    if !query.isEmpty { parts?.queryItems = query.map { URLQueryItem(name: $0.0, value: $0.1) } }
    return try send(URLRequest(url: parts?.url ?? base))
  }

  func post(_ path: String, _ json: [String: Any]) throws -> [String: Any] {
    var request = URLRequest(url: base.appending(path: path))
    request.httpMethod = "POST"
    request.httpBody = try JSONSerialization.data(withJSONObject: json)
    return try send(request)
  }

  private func send(_ request: URLRequest) throws -> [String: Any] {
    let answer = Answer()
    let arrived = DispatchSemaphore(value: 0)
    URLSession.shared.dataTask(with: request) { data, response, error in
      answer.set(data, (response as? HTTPURLResponse)?.statusCode, error)
      arrived.signal()
    }.resume()
    arrived.wait()
    let what = "\(request.httpMethod ?? "GET") \(request.url?.path ?? "")"
    guard let status = answer.status else {
      throw WebError(
        status: 0, errorDescription: "\(what): \(answer.error?.localizedDescription ?? "no answer")")
    }
    let json: [String: Any] = (try? JSONSerialization.jsonObject(with: answer.data)) as? [String: Any] ?? [:]
    guard status == 200 else {
      throw WebError(
        status: status, errorDescription: "\(what) was refused with \(status): \(json["error"] ?? json)")
    }
    return json
  }

  private final class Answer: @unchecked Sendable {
    // Sendable: set before the semaphore is signalled, read after that.
    private(set) var data = Data()
    private(set) var status: Int?
    private(set) var error: (any Error)?

    func set(_ data: Data?, _ status: Int?, _ error: (any Error)?) {
      self.data = data ?? Data()
      (self.status, self.error) = (status, error)
    }
  }
}
