import CoreDataModel

/// Something in a model that Xcode's editor would warn about, or that will fail or surprise at run time.
public struct ModelProblem: CustomStringConvertible, Sendable, Hashable {
  public enum Severity: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Using the part will fail, or data will not stay consistent.
    case error
    /// The model works, but probably not as meant.
    case warning
    /// The model works, and many are so on purpose. Worth a look once.
    case note

    /// Notes come before warnings, and these before errors.
    public static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

    private var rank: Int {
      switch self {
      case .note: 0
      case .warning: 1
      case .error: 2
      }
    }
  }

  public let severity: Severity
  /// The rule, such as `no-inverse`: a section of `Documentation/lint.md`, and the word that ignores it.
  public let code: String
  /// The entity concerned, nil for the model itself.
  public let entity: String?
  /// The property, index or template concerned; for an element of a composite attribute the path to it.
  public let part: String?
  /// What is wrong and how to correct it.
  public let message: String

  /// `Item.tags`; empty for the model itself.
  public var place: String { [entity, part].compactMap { $0 }.joined(separator: ".") }

  public var description: String {
    let text: String = place.isEmpty ? message : "\(place): \(message)"
    return "\(severity.rawValue): \(text) [\(code)]"
  }

  /// The codes of all rules.
  public static let codes: [String] = ModelRule.allCases.map(\.rawValue)

  /// The key of the user info of an entity or a property under which codes stand that are not reported of it,
  /// between commas or spaces; `*` stands for all. What an entity ignores is ignored of its properties too.
  public static let ignoringKey: String = "clarus.lint.ignore"
}

extension NSManagedObjectModel {
  /// The model's problems, in the order of entity and property names. Empty for a correct model.
  ///
  /// ```swift
  /// for problem in model.problems() { print(problem) }
  /// // warning: Item.tags: it has no inverse; … [no-inverse]
  /// ```
  ///
  /// Rules are ignored for one entity or property by its user info (``ModelProblem/ignoringKey``).
  ///
  /// - Parameters:
  ///   - severity: the least that is reported. Notes are about what is often meant.
  ///   - ignored: codes of rules that are not reported anywhere in the model; `*` stands for all.
  ///
  /// Queue: any, as long as no code changes the model. Cost: linear in the model.
  public final func problems(
    downTo severity: ModelProblem.Severity = .warning, ignoring ignored: Set<String> = []
  ) -> [ModelProblem] {
    var lint = ModelLint(self, downTo: severity, ignoring: ignored)
    return lint.run()
  }
}
