import Foundation
import Synchronization

/// One thing that is logged: a statement that was run, or a fault that is explained.
package struct LogEntry: Sendable, CustomStringConvertible {
  package enum Kind: String, Sendable { case statement, faulting }

  package let kind: Kind
  /// The statement, or the explanation.
  package let text: String
  /// The values of a statement's parameters, from level 2 on.
  package var values: [String] = []
  /// The rows that a statement returned or wrote; nil if that is not counted.
  package var rows: Int?
  package var duration: Duration?
  package var failure: String?
  /// What was found, as `Entity/p1`, from level 3 on.
  package var objects: [String] = []
  /// The database's plan, at level 4.
  package var plan: [String] = []

  package init(_ kind: Kind, _ text: String, rows: Int? = nil) {
    self.kind = kind
    self.text = text
    self.rows = rows
  }

  /// Lines in the form of Apple's framework.
  package var description: String {
    guard kind == .statement else { return "CoreData: \(kind.rawValue): \(text)" }
    var lines: [String] = ["CoreData: sql: \(text)"]
    for (place, value) in values.enumerated() {
      lines.append("CoreData: details: SQLite bind[\(place)] = \(value)")
    }
    let count: String? = rows.map { "\($0) rows" }
    if let duration {
      let seconds = String(format: "%.4f", duration / .seconds(1) as Double)
      lines.append("CoreData: annotation: total execution time: \(seconds)s for \(count ?? "0 rows").")
    } else if let count {
      lines.append("CoreData: annotation: \(count).")
    }
    if let failure { lines.append("CoreData: annotation: failed: \(failure)") }
    if !objects.isEmpty {
      lines.append("CoreData: annotation: fetched \(objects.joined(separator: ", "))")
    }
    lines += plan.map { "CoreData: annotation: plan: \($0)" }
    return lines.joined(separator: "\n")
  }
}

/// Where log entries go, and how much of statements is logged.
package enum LogSink {
  private static let storedHandler = Guarded<(@Sendable (LogEntry) -> Void)?>(nil)
  private static let storedLevel = Atomic<Int>(
    level(environment: ProcessInfo.processInfo.environment, arguments: ProcessInfo.processInfo.arguments))

  package static var handler: (@Sendable (LogEntry) -> Void)? {
    get { storedHandler.withLock { $0 } }
    set { storedHandler.withLock { $0 = newValue } }
  }

  /// 0 for no statements; see ``level(environment:arguments:)``.
  package static var level: Int {
    get { storedLevel.load(ordering: .relaxed) }
    set { storedLevel.store(max(0, min(4, newValue)), ordering: .relaxed) }
  }

  /// The level from the places that can set it; a launch argument prevails.
  ///
  /// 1: statements with times and numbers of rows; 2: the values bound to them too; 3: the ids of the objects
  /// found too; 4: the database's plans too.
  package static func level(environment: [String: String], arguments: [String]) -> Int {
    let name = "com.apple.CoreData.SQLDebug"
    func level(_ text: String?) -> Int? { text.flatMap { Int($0) }.map { max(0, min(4, $0)) } }
    if let flag = arguments.firstIndex(of: "-" + name), flag + 1 < arguments.count,
      let level = level(arguments[flag + 1])
    {
      return level
    }
    return level(environment[name]) ?? level(environment["CLARUS_SQL_DEBUG"]) ?? 0
  }

  /// Passes an entry to the handler, or writes it to standard error in one call, so that lines of several
  /// threads don't mix.
  package static func log(_ entry: LogEntry) {
    if let handler { return handler(entry) }
    FileHandle.standardError.write(Data((entry.description + "\n").utf8))
  }
}
