import Foundation

/// What a ``MigrationTester`` has found. Prints as a table with the failures below it.
public struct MigrationTestReport: CustomStringConvertible {
  /// One migration of one store.
  public struct Step: CustomStringConvertible {
    public enum Outcome: Sendable, Equatable {
      /// By statements in the file.
      case migratedInPlace
      /// Object by object, into another file.
      case copied
      /// The stores of both versions are the same.
      case unchanged
      /// No mapping model leads from one version to the other: the reasons.
      case refused([String])
      /// The migration threw an error.
      case failed(String)
    }

    /// The names of the versions.
    public let source: String
    public let destination: String
    /// The kind of store, such as `SQLite`.
    public let storeType: String
    /// One of ``MigrationTester/Routes``.
    public let route: MigrationTester.Routes
    public internal(set) var outcome: Outcome
    /// Whether the mapping model is inferred.
    public internal(set) var isInferred: Bool = true
    /// Whether ``MigrationTester/unsupported`` names the source: that it is refused is no failure then.
    public internal(set) var isUnsupported: Bool = false
    public internal(set) var entities: Int = 0
    /// The objects of the old store.
    public internal(set) var objects: Int = 0
    /// The objects that were found in the new store.
    public internal(set) var objectsCompared: Int = 0
    public internal(set) var valuesCompared: Int = 0
    /// The ends of relationships.
    public internal(set) var linksCompared: Int = 0
    /// What is not as the mapping model says, or is not valid in the new version: sentences.
    public internal(set) var differences: [String] = []
    /// What the new version does not have: entities and properties of the old one.
    public internal(set) var losses: [String] = []
    /// What is not compared, because a policy or an expression of the program makes it.
    public internal(set) var notCompared: [String] = []
    /// What must be true of a program's objects; the generated ones fulfil it.
    public internal(set) var conditions: [String] = []

    init(_ source: String, _ destination: String, _ storeType: String, _ route: MigrationTester.Routes) {
      (self.source, self.destination, self.storeType, self.route) = (source, destination, storeType, route)
      outcome = .unchanged
    }

    /// What is wrong. A version from which automatic migration finds no way to the newest one is, because who
    /// has a store of that version can't open it.
    public var failures: [String] {
      switch outcome {
      case .failed(let text): [text] + differences
      case .refused(let reasons):
        if isUnsupported { [] } else if route == .atOnce { [refusal(reasons)] } else { reasons }
      case .migratedInPlace, .copied, .unchanged: differences
      }
    }

    private func refusal(_ reasons: [String]) -> String {
      "A store of \(source) can't be opened with \(destination), because no mapping model can be inferred: "
        + "\(reasons.joined(separator: " ")) Add a mapping model from \(source) to \(destination) (`clarus model squash` "
        + "makes one over the versions between), or migrate by stages and take .atOnce out of the tester's routes. "
        + "If \(source) is no longer supported, name it in the tester's unsupported."
    }

    public var description: String {
      let way: String =
        switch outcome {
        case .migratedInPlace: "in place"
        case .copied: "copied"
        case .unchanged: "unchanged"
        case .refused: "refused"
        case .failed: "FAILED"
        }
      let numbers: String =
        "\(objects) objects of \(entities) entities, \(objectsCompared) found, \(valuesCompared) values, "
        + "\(linksCompared) ends of relationships"
      var parts: [String] = ["\(source) → \(destination)", storeType, way]
      if case .refused(let reasons) = outcome {
        parts.append(reasons.joined(separator: " "))
      } else {
        parts.append(numbers)
      }
      if !losses.isEmpty { parts.append("lost: \(losses.joined(separator: ", "))") }
      if !differences.isEmpty { parts.append("\(differences.count) DIFFERENCES") }
      return parts.joined(separator: " | ")
    }
  }

  public internal(set) var steps: [Step] = []
  /// Properties that got no value, with the reason: set them with ``MigrationTester/customize``.
  public internal(set) var unfilled: [String] = []

  /// Everything that is wrong, each with the step in which it was found. A test expects that there is none.
  public var failures: [String] {
    steps.flatMap { step in
      step.failures.map { "\(step.source) → \(step.destination), \(step.storeType): \($0)" }
    }
  }

  public var description: String {
    var lines: [String] = steps.map(\.description)
    if !unfilled.isEmpty { lines += ["Without a value:"] + unfilled.map { "  \($0)" } }
    let notCompared: [String] = steps.flatMap { step in step.notCompared.map { "\(step.destination): \($0)" }
    }
    if !notCompared.isEmpty { lines += ["Not compared:"] + notCompared.map { "  \($0)" } }
    if !failures.isEmpty { lines += ["Failures:"] + failures.map { "  \($0)" } }
    return lines.joined(separator: "\n")
  }
}
