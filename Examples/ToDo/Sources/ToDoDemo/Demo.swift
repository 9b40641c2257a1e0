import CoreData
import ToDo

/// The main job in two processes: `ToDoDemo write STORE`, then `ToDoDemo read STORE`. And the program of two
/// releases: `ToDoDemo version1 STORE`, then `ToDoDemo version2 STORE [MODELS]`.
@main
struct Demo {
  /// The demo's today, so that it prints the same every day.
  static let today = Date(timeIntervalSinceReferenceDate: 794_656_800)  // 2026-03-08 10:00 UTC

  @MainActor static func main() {
    let arguments: [String] = Array(CommandLine.arguments.dropFirst())
    guard (2...3).contains(arguments.count), let phase = Phase(rawValue: arguments[0]),
      arguments.count == 2 || phase == .version2
    else {
      FileHandle.standardError.write(
        Data("usage: ToDoDemo write|read|version1 STORE, ToDoDemo version2 STORE [MODELS]\n".utf8))
      exit(2)
    }
    let url = URL(fileURLWithPath: arguments[1])
    do {
      switch phase {
      case .write: try WritePhase(container: ToDoStore.open(url)).run()
      case .read: try ReadPhase(container: ToDoStore.open(url)).run()
      case .version1: try VersionPhase(url: url).writeFirst()
      case .version2:
        let folder: URL? = arguments.dropFirst(2).first.map { URL(fileURLWithPath: $0, isDirectory: true) }
        try VersionPhase(url: url).migrate(modelsIn: folder)
      }
    } catch {
      FileHandle.standardError.write(Data("ToDoDemo: \(error)\n".utf8))
      exit(1)
    }
  }

  enum Phase: String { case write, read, version1, version2 }

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
