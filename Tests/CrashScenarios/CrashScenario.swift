import CCrashPoints
import CoreData
import Foundation

/// What a process does in a folder until it is stopped at a point.
///
/// Without a stop it ends its work. If calls fail because the disk is full, it checks what a program may rely
/// on, gets space again, and goes on.
public protocol CrashScenario {
  /// Fills the folder in which the process then works.
  func prepare(_ folder: URL) throws
  /// The process: returns what is to be reported, and faults as lines that begin with ``faultMark``.
  func run(in folder: URL) throws -> [String]
}

public let faultMark = "FAULT"

/// The scenarios by the names under which a process is told to run them.
public func crashScenario(named name: String) -> (any CrashScenario)? {
  let all: [any CrashScenario] =
    SaveScenario.allCases + MigrationScenario.allCases + FileScenario.allCases
  return all.first { "\($0)" == name }
}

/// What the process that may be stopped calls.
enum CrashPoint {
  /// Called when a part of the work is done and must not be lost.
  static func note(_ number: Int) { crash_points_note(number) }

  /// Gives space again. Returns whether a call has failed for want of it.
  static func lift() -> Bool { crash_points_lift() }
}

/// The text of an error as a program shows it.
func text(of error: any Error) -> String { (error as NSError).localizedDescription }
