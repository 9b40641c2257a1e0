import CoreDataStorage

/// The log of statements and explained faults.
///
/// Statements are logged with the launch argument `-com.apple.CoreData.SQLDebug 1` (to 4), the same name
/// without the dash in the environment, or `CLARUS_SQL_DEBUG` there, and from the moment when ``sqlLevel`` is
/// set. Entries are written to standard error, or passed to ``handler``.
public enum CoreDataLog {
  /// What is logged of statements: 0 nothing; 1 the statements, with times and numbers of rows; 2 the values
  /// bound to them too; 3 the ids of the objects found too; 4 the database's plans too. For all stores.
  public static var sqlLevel: Int {
    get { LogSink.level }
    set { LogSink.level = newValue }
  }

  /// Gets the entries in place of standard error; nil (default): none. Called on the thread that runs the
  /// statement, while the store waits for it: it must not use Core Data.
  public static var handler: (@Sendable (Entry) -> Void)? {
    get {
      guard let handler = LogSink.handler else { return nil }
      return { (entry: Entry) in handler(entry.entry) }
    }
    set {
      guard let newValue else {
        LogSink.handler = nil
        return
      }
      LogSink.handler = { (entry: LogEntry) in newValue(Entry(entry)) }
    }
  }

  /// One thing that is logged. Its description is what is written to standard error, in the form of Apple's
  /// framework.
  public struct Entry: Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable {
      /// A statement of a store.
      case statement
      /// A relationship that is read object by object (``NSManagedObjectContext/FaultingPolicy/explain``).
      case faulting
    }

    fileprivate let entry: LogEntry
    fileprivate init(_ entry: LogEntry) { self.entry = entry }

    public var kind: Kind { entry.kind == .statement ? .statement : .faulting }
    /// The statement, or the explanation.
    public var text: String { entry.text }
    /// The values of a statement's parameters, from level 2 on.
    public var values: [String] { entry.values }
    /// The rows that a statement returned or wrote; nil if that is not counted.
    public var rows: Int? { entry.rows }
    /// How long it ran; nil for the statements of a save.
    public var duration: Duration? { entry.duration }
    /// The error of a statement that failed.
    public var failure: String? { entry.failure }
    /// What a statement has found, as `Product/p1`, from level 3 on.
    public var objects: [String] { entry.objects }
    /// The lines of the database's plan, at level 4.
    public var plan: [String] { entry.plan }
    public var description: String { entry.description }
  }
}
