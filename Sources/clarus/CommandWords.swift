import ArgumentParser
import CoreDataPredicates
import Foundation

/// The words of the command line, as people write them and as the parser wants them.
enum CommandWords {
  /// - Throws: ``CommandFailure`` for the name of a command that does not exist, with the names that do.
  static func prepared(_ words: [String]) throws -> [String] {
    guard words.prefix(2) == ["model", "add"] else {
      try checkNames(words)
      return joiningNegativeNumbers(words)
    }
    let (model, kind) = (words.dropFirst(2).first, words.dropFirst(3).first)
    if let model, !model.hasPrefix("-"), !ModelAddCommand.kinds.contains(model) {
      guard let kind, kind.hasPrefix("-") || ModelAddCommand.kinds.contains(kind) else {
        let found: String =
          kind.map { "'\($0)' is nothing that can be added" } ?? "Nothing is named to be added"
        throw CommandFailure(
          "\(found): write `clarus model add \(model) version`, or entity, attribute or relationship with what "
            + "belongs to it.", status: 2)
      }
    }
    return ModelAddCommand.reordered(joiningNegativeNumbers(words))
  }

  /// Follows the words as long as they are names of commands.
  private static func checkNames(_ words: [String]) throws {
    var command: any ParsableCommand.Type = Clarus.self
    var path: [String] = []
    for word in words {
      let known: [any ParsableCommand.Type] = command.configuration.subcommands
      if known.isEmpty || word.hasPrefix("-") || (path.isEmpty && word == "help") { return }
      guard let next = known.first(where: { name(of: $0) == word }) else {
        let title: String = (["clarus"] + path).joined(separator: " ")
        let names: [String] = known.map(name).sorted()
        // Of commands all are told.
        let advice: String =
          NearestNames.of(word, among: names).isEmpty
          ? "There are \(names.joined(separator: ", "))." : NearestNames.advice(for: word, among: names)
        throw CommandFailure("There is no command `\(title) \(word)`. \(advice)", status: 2)
      }
      path.append(word)
      command = next
    }
  }

  private static func name(of command: any ParsableCommand.Type) -> String {
    command.configuration.commandName ?? ""
  }

  /// What to say besides the parser's message; nil if nothing.
  static func advice(on message: String, _ words: [String]) -> String? {
    adviceOnMissingValue(message, words) ?? adviceOnMissingModel(message, words)
      ?? adviceOnDividedType(message, words)
  }

  /// `Integer 16` is two words to the shell.
  private static func adviceOnDividedType(_ message: String, _ words: [String]) -> String? {
    guard message.contains("nexpected argument"),
      let place = words.firstIndex(where: { $0.lowercased() == "integer" }),
      let size = words.dropFirst(place + 1).first, ["16", "32", "64"].contains(size)
    else { return nil }
    return "Write the type as one word: Int\(size), or 'Integer \(size)' in quotation marks"
  }

  /// Where an argument is missing, and the first one is no model, probably the model is what is missing.
  private static func adviceOnMissingModel(_ message: String, _ words: [String]) -> String? {
    guard message.hasPrefix("Missing expected argument '"), words.first == "model",
      let command = words.dropFirst().first, command != "merge"
    else { return nil }
    let rest: ArraySlice<String> = words.dropFirst(2)
    guard let first = rest.first(where: { !$0.hasPrefix("-") }), !ModelArgument.isModelPackage(first),
      !FileManager.default.fileExists(atPath: first)
    else { return nil }
    return "The model comes first: `clarus model \(command) MODEL \(rest.joined(separator: " "))`"
  }

  /// What to say to someone whose value was taken for an option, since it begins with a dash: the parser's
  /// message is that the value is missing. Nil for other messages.
  private static func adviceOnMissingValue(_ message: String, _ words: [String]) -> String? {
    guard message.hasPrefix("Missing value for '"),
      let option = message.split(separator: "'").dropFirst().first,
      let name = option.split(separator: " ").first.map(String.init),
      let place = words.firstIndex(of: name), let value = words.dropFirst(place + 1).first
    else { return nil }
    return value.hasPrefix("-")
      ? "A value that begins with a dash needs an equals sign: \(name)=\(value)" : nil
  }

  /// The options whose value may be a number, which of some has to be a positive one.
  private static let numeric: Set<String> = [
    "--min", "--max", "--default", "--limit", "--offset", "--members",
  ]

  /// `--min -5` as `--min=-5`: to the parser what begins with a hyphen is an option.
  private static func joiningNegativeNumbers(_ words: [String]) -> [String] {
    var result: [String] = []
    for word in words {
      if let option = result.last, numeric.contains(option), word.hasPrefix("-"),
        Double(word) != nil
      {
        result[result.count - 1] = "\(option)=\(word)"
      } else {
        result.append(word)
      }
    }
    return result
  }
}
