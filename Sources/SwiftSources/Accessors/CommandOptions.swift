/// The words after a command of a tool: options with a value each, and files.
package struct CommandOptions {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
  }

  private var values: [String: [String]] = [:]
  package private(set) var files: [String] = []

  /// - Parameter known: the options that there are, each with its hyphens.
  /// - Throws: ``Failure`` at an option that is not known or has no value.
  package init(_ arguments: [String], known: Set<String>) throws(Failure) {
    var rest: ArraySlice<String> = arguments[...]
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("--") else {
        files.append(argument)
        continue
      }
      guard known.contains(argument), let value = rest.popFirst() else {
        throw Failure("\(argument): there is no such option, or its value is missing.")
      }
      values[argument, default: []].append(value)
    }
  }

  package func all(_ name: String) -> [String] { values[name] ?? [] }

  package func required(_ name: String) throws(Failure) -> String {
    guard let value = values[name]?.last else { throw Failure("\(name) is missing.") }
    return value
  }
}
