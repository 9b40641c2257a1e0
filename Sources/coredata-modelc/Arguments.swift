import CoreDataCodeGeneration
import Foundation

/// The words after the command: places, then or between them options.
struct Arguments {
  private var words: [String] = []
  private(set) var options = ToolOptions()

  init(_ words: [String]) throws {
    var rest: ArraySlice<String> = words[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("--") else {
        self.words.append(word)
        continue
      }
      guard let value = rest.popFirst() else { throw UsageError("\(word) needs a value.") }
      if word == "--options" {
        try options.read(file: value)
      } else {
        do {
          try options.set(Self.key(word), value)
        } catch {
          throw UsageError("\(word) \(value): \(error.reason)")
        }
      }
    }
  }

  /// `--fetched-properties` → `fetchedProperties`
  private static func key(_ word: String) -> String {
    let parts: [Substring] = word.dropFirst(2).split(separator: "-")
    return parts.enumerated().map { $0 == 0 ? String($1) : $1.prefix(1).uppercased() + $1.dropFirst() }
      .joined()
  }

  /// As many places as named.
  func places(_ names: String...) throws -> [String] {
    guard words.count == names.count else {
      throw UsageError("Expected \(names.joined(separator: " ")), found \(words.count) of them.")
    }
    return words
  }
}

/// The options of the generator, by the names that they have on the command line and in a file of options.
struct ToolOptions {
  var generation = CodeGenerationOptions()
  /// Whether no classes are wanted at all.
  var isWithoutClasses = false

  struct Flaw: Error {
    var reason: String
  }

  mutating func set(_ key: String, _ value: String) throws(Flaw) {
    func word<Value: RawRepresentable & CaseIterable>(_ type: Value.Type) throws(Flaw) -> Value
    where Value.RawValue == String {
      if let word = Value(rawValue: value) { return word }
      throw Flaw(reason: "It is one of \(Value.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    switch key {
    case "access": generation.access = try word(CodeGenerationOptions.Access.self)
    case "accessors": generation.accessors = try word(CodeGenerationOptions.Accessors.self)
    case "collections": generation.collections = try word(CodeGenerationOptions.Collections.self)
    case "classes":
      guard ["model", "all", "none"].contains(value) else {
        throw Flaw(reason: "It is one of model, all, none.")
      }
      generation.entities = value == "all" ? .all : .asModelled
      isWithoutClasses = value == "none"
    case "fetchedProperties":
      guard ["yes", "no"].contains(value) else { throw Flaw(reason: "It is yes or no.") }
      generation.fetchedProperties = value == "yes"
    case "module": generation.module = value
    case "otherModules": generation.otherModules = Set(value.split(separator: ",").map(String.init))
    // What the plugin alone decides.
    case "aliases":
      guard ["yes", "no"].contains(value) else { throw Flaw(reason: "It is yes or no.") }
    case "folders": break
    default:
      throw Flaw(
        reason: """
          There is no such option; there are access, accessors, collections, classes, fetchedProperties, aliases, \
          folders.
          """)
    }
    if generation.collections == .swift, generation.accessors != .slots {
      throw Flaw(reason: "Swift's collections and @NSManaged don't go together.")
    }
  }

  /// An object of texts and Booleans.
  mutating func read(file: String) throws {
    let data: Data
    let content: Any
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: file))
      content = try JSONSerialization.jsonObject(with: data)
    } catch {
      ModelCompiler.report("\(file):1: error: The options can't be read: \(error.localizedDescription)")
      throw ReportedFailure()
    }
    guard let object = content as? [String: Any] else {
      ModelCompiler.report(
        "\(file):1: error: The options are no JSON object, such as {\"access\": \"internal\"}.")
      throw ReportedFailure()
    }
    let lines: [Substring] = String(decoding: data, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    for (key, value) in object.sorted(by: { $0.key < $1.key }) {
      do {
        switch value {
        case let text as String: try set(key, text)
        case let flag as Bool: try set(key, flag ? "yes" : "no")
        case let list as [String] where key == "folders": try set(key, list.joined(separator: ","))
        default: throw Flaw(reason: "It is neither a text nor true or false.")
        }
      } catch let flaw as Flaw {
        let line: Int = (lines.firstIndex { $0.contains("\"\(key)\"") } ?? 0) + 1
        ModelCompiler.report("\(file):\(line): error: \(key): \(flaw.reason)")
        throw ReportedFailure()
      }
    }
  }
}
