import CoreData
import ToDo

/// The main job in two processes: `ToDoDemo write STORE`, then `ToDoDemo read STORE`.
@main
struct Demo {
  /// The demo's today, so that it prints the same every day.
  static let today = Date(timeIntervalSinceReferenceDate: 794_656_800)  // 2026-03-08 10:00 UTC

  static func main() {
    let arguments: [String] = Array(CommandLine.arguments.dropFirst())
    guard arguments.count == 2, let phase = Phase(rawValue: arguments[0]) else {
      FileHandle.standardError.write(Data("usage: ToDoDemo write|read STORE\n".utf8))
      exit(2)
    }
    do {
      let container: NSPersistentContainer = try ToDoStore.open(URL(fileURLWithPath: arguments[1]))
      switch phase {
      case .write: try WritePhase(container: container).run()
      case .read: try ReadPhase(container: container).run()
      }
    } catch {
      FileHandle.standardError.write(Data("ToDoDemo: \(error)\n".utf8))
      exit(1)
    }
  }

  enum Phase: String { case write, read }

  static func day(_ offset: Int) -> Date { today.addingTimeInterval(Double(offset) * 86_400) }
}

struct DemoError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension Date {
  /// `2026-03-08`, in UTC.
  var day: String { String(ISO8601DateFormatter().string(from: self).prefix(10)) }
}

extension Item {
  /// `[ ] 2026-03-09  !2  Water the plants`
  var line: String {
    let due: String = dueDate?.day ?? "no date   "
    let mark: String = priority > 0 ? "!\(priority)" : "  "
    return "[\(completed ? "x" : " ")] \(due)  \(mark)  \(title ?? "")"
  }
}
