import Foundation

/// Logging of statements to standard error, as Apple's `-com.apple.CoreData.SQLDebug 1` does.
///
/// Levels: 1 statements with row counts and times, 2 bound values too, 3 the database's query plan too. Set
/// by the environment (`CLARUS_SQL_DEBUG=2`) or by Apple's launch argument.
package enum SQLDebug {
  package static let levelFromEnvironment: Int = level(
    environment: ProcessInfo.processInfo.environment, arguments: ProcessInfo.processInfo.arguments)

  /// The level from the two places that can set it; the launch argument prevails.
  static func level(environment: [String: String], arguments: [String]) -> Int {
    if let flag = arguments.firstIndex(of: "-com.apple.CoreData.SQLDebug"), flag + 1 < arguments.count,
      let level = Int(arguments[flag + 1])
    {
      return max(0, min(3, level))
    }
    return environment["CLARUS_SQL_DEBUG"].flatMap(Int.init).map { max(0, min(3, $0)) } ?? 0
  }

  /// Writes one line in one call, so that lines of several threads don't mix.
  static func log(_ text: @autoclosure () -> String) {
    FileHandle.standardError.write(Data("CoreData: sql: \(text())\n".utf8))
  }
}
