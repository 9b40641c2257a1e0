import Foundation

/// A model file that can't be read: which file, which line where there are lines, why, and what to do.
public struct ModelFileError: Error, LocalizedError, CustomStringConvertible, Sendable, Hashable {
  /// The file's path, or the name of another source ("the model cached in Shop.sqlite").
  public let file: String
  /// The line, counted from 1, for text formats.
  public let line: Int?
  /// What is wrong and how to correct it. Long ones are cut in the middle.
  public let reason: String

  package init(file: String, line: Int? = nil, reason: String) {
    self.file = file
    self.line = line
    self.reason = Self.bounded(reason)
  }

  /// Damaged files have names of many kilobytes, which would hide what is said of them. Counted in bytes: one
  /// character can have any number of them.
  private static func bounded(_ reason: String) -> String {
    let bytes: String.UTF8View = reason.utf8
    guard bytes.count > 2000 else { return reason }
    return String(decoding: bytes.prefix(1200), as: UTF8.self) + " … "
      + String(decoding: bytes.suffix(600), as: UTF8.self)
  }

  public var description: String {
    line.map { "\(file):\($0): \(reason)" } ?? "\(file): \(reason)"
  }

  public var errorDescription: String? { description }

  /// The same text as ``description``.
  public var failureReason: String? { description }
}

/// A part of a model file that was read only in part. The model is usable without it.
public struct ModelWarning: CustomStringConvertible, Sendable, Hashable {
  public let file: String
  public let line: Int?
  public let message: String

  package init(file: String, line: Int? = nil, message: String) {
    self.file = file
    self.line = line
    self.message = message
  }

  public var description: String {
    line.map { "\(file):\($0): warning: \(message)" } ?? "\(file): warning: \(message)"
  }
}
