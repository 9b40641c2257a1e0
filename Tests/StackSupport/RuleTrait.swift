import Testing

/// Says which rule a test proves.
public struct RuleTrait: TestTrait {
  public let comments: [Comment]
}

extension Trait where Self == RuleTrait {
  /// The rule `id`, said by `source`. `text` is the rule in a few words where the test's name is not.
  public static func rule(_ id: String, _ source: String, _ text: String = "") -> Self {
    RuleTrait(comments: ["\(id) (\(source))\(text.isEmpty ? "" : ": \(text)")"])
  }
}
