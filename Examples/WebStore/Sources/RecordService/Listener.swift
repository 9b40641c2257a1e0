import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Accepts connections on a port of this machine, a thread for each, and one request on each.
final class Listener: Sendable {
  let port: UInt16
  private let socket: Int32

  /// Listens on a free port. `answer` is called on threads of the listener.
  init(_ answer: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) throws {
    #if canImport(Darwin)
      let made: Int32 = Foundation.socket(AF_INET, SOCK_STREAM, 0)
    #else
      let made: Int32 = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let failed: Bool = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        made < 0 || bind(made, address, length) != 0 || listen(made, 64) != 0
          || getsockname(made, address, &length) != 0
      }
    }
    guard !failed else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    socket = made
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread {
      while true {
        let connection: Int32 = accept(made, nil, nil)
        guard connection >= 0 else { return }
        Thread.detachNewThread { Self.serve(connection, answer) }
      }
    }
  }

  deinit { close(socket) }

  private static func serve(_ connection: Int32, _ answer: (HTTPRequest) -> HTTPAnswer) {
    defer { close(connection) }
    var data = Data()
    var chunk = [UInt8](repeating: 0, count: 65_536)
    var needed: Int?
    while needed == nil || data.count < needed ?? 0 {
      let count: Int = read(connection, &chunk, chunk.count)
      guard count > 0 else { return }
      data.append(contentsOf: chunk[..<count])
      if needed == nil, let end = data.range(of: Data("\r\n\r\n".utf8)) {
        needed =
          end.upperBound + HTTPRequest.bodyLength(String(decoding: data[..<end.lowerBound], as: UTF8.self))
      }
    }
    guard let end = data.range(of: Data("\r\n\r\n".utf8)),
      let request = HTTPRequest(
        head: String(decoding: data[..<end.lowerBound], as: UTF8.self), body: data[end.upperBound...])
    else { return }
    var rest: Data = answer(request).bytes
    while !rest.isEmpty {
      let count: Int = rest.withUnsafeBytes {
        send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
