import CoreDataPredicates
import Foundation

/// Text → parsed as a predicate and as an expression → printed, parsed again, evaluated, archived.
///
/// ```
/// format | FF | numbers of arguments (World.arguments)
/// ```
public enum TextTarget {
  public static let separator: UInt8 = 0xFF

  public static func run(_ bytes: UnsafeBufferPointer<UInt8>) {
    let (format, arguments) = content(bytes)
    if let node = try? Parser.predicate(format, arguments: arguments) { Laws.check(node) }
    if let node = try? Parser.expression(format, arguments: arguments) { Laws.check(node) }
  }

  package static func content(_ bytes: UnsafeBufferPointer<UInt8>) -> (format: String, arguments: [Any?]) {
    let end: Int = bytes.firstIndex(of: separator) ?? bytes.count
    let arguments: [Any?] = bytes[end...].dropFirst().prefix(16).map {
      World.arguments[Int($0) % World.arguments.count]
    }
    return (String(decoding: bytes[..<end], as: UTF8.self), arguments)
  }

  /// An input for a format of the vectors, with arguments of the kinds that it has.
  public static func seed(_ format: String, _ arguments: [Any?]) -> Data {
    var data: Data = Data(format.utf8)
    if arguments.isEmpty { return data }
    data.append(separator)
    for argument in arguments {
      let kind: String = PredicateValue(constant: argument).kindName
      let index: Int = World.arguments.firstIndex { PredicateValue(constant: $0).kindName == kind } ?? 0
      data.append(UInt8(index))
    }
    return data
  }
}
