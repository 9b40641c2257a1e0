// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreDataPredicates
import Foundation

// Nodes that Foundation compiles for Apple's platforms only, under their names there. The `#Predicate` macro
// calls the `build_…` functions by the names in the source, so with them such sources compile here too.

#if !canImport(Darwin)

  extension PredicateExpressions {
    /// `text.localizedStandardContains(other)`: regardless of case and accents, by the rules of
    /// the current locale.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
      PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
      public typealias Output = Bool

      public let root: Root
      public let other: Other

      public init(root: Root, other: Other) {
        self.root = root
        self.other = other
      }

      public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        try root.evaluate(bindings).localizedStandardContains(other.evaluate(bindings))
      }
    }

    /// `text.caseInsensitiveCompare(other)`
    public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>:
      PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
      public typealias Output = ComparisonResult

      public let root: Root
      public let other: Other

      public init(root: Root, other: Other) {
        self.root = root
        self.other = other
      }

      public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
        try root.evaluate(bindings).caseInsensitiveCompare(other.evaluate(bindings))
      }
    }

    /// `text.localizedCompare(other)`: the order of the current locale.
    public struct StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression>:
      PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
      public typealias Output = ComparisonResult

      public let root: Root
      public let other: Other

      public init(root: Root, other: Other) {
        self.root = root
        self.other = other
      }

      public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
        try root.evaluate(bindings).localizedCompare(other.evaluate(bindings))
      }
    }

    /// `predicate.evaluate(value)`: a predicate inside another one.
    public struct PredicateEvaluate<Condition: PredicateExpression, each Input: PredicateExpression>:
      PredicateExpression
    where Condition.Output == Predicate<repeat (each Input).Output> {
      public typealias Output = Bool

      public let predicate: Condition
      public let input: (repeat each Input)

      public init(predicate: Condition, input: repeat each Input) {
        self.predicate = predicate
        self.input = (repeat each input)
      }

      public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        try predicate.evaluate(bindings).evaluate(repeat (each input).evaluate(bindings))
      }
    }

    /// Called by the macro for `text.localizedStandardContains(other)`.
    public static func build_localizedStandardContains<Root, Other>(
      _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> {
      StringLocalizedStandardContains(root: root, other: other)
    }

    /// Called by the macro for `text.caseInsensitiveCompare(other)`.
    public static func build_caseInsensitiveCompare<Root, Other>(
      _ root: Root, _ other: Other
    ) -> StringCaseInsensitiveCompare<Root, Other> {
      StringCaseInsensitiveCompare(root: root, other: other)
    }

    /// Called by the macro for `text.localizedCompare(other)`.
    public static func build_localizedCompare<Root, Other>(
      _ root: Root, _ other: Other
    ) -> StringLocalizedCompare<Root, Other> {
      StringLocalizedCompare(root: root, other: other)
    }

    /// The call that a macro would make for `predicate.evaluate(value)`; the macro on Linux refuses it, so
    /// programs write it by hand.
    public static func build_evaluate<Condition, each Input>(
      _ predicate: Condition, _ input: repeat each Input
    ) -> PredicateEvaluate<Condition, repeat each Input> {
      PredicateEvaluate<Condition, repeat each Input>(predicate: predicate, input: repeat each input)
    }
  }

  extension PredicateExpressions.StringLocalizedStandardContains: Sendable
  where Root: Sendable, Other: Sendable {}
  extension PredicateExpressions.StringLocalizedStandardContains: Codable
  where Root: Codable, Other: Codable {}
  extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
  where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

  extension PredicateExpressions.StringCaseInsensitiveCompare: Sendable
  where Root: Sendable, Other: Sendable {}
  extension PredicateExpressions.StringCaseInsensitiveCompare: Codable where Root: Codable, Other: Codable {}
  extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression
  where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

  extension PredicateExpressions.StringLocalizedCompare: Sendable where Root: Sendable, Other: Sendable {}
  extension PredicateExpressions.StringLocalizedCompare: Codable where Root: Codable, Other: Codable {}
  extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression
  where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

  extension PredicateExpressions.PredicateEvaluate: Sendable
  where Condition: Sendable, repeat each Input: Sendable {}
  extension PredicateExpressions.PredicateEvaluate: Codable
  where Condition: Codable, repeat each Input: Codable {
    public func encode(to encoder: any Encoder) throws {
      var values = encoder.unkeyedContainer()
      try values.encode(predicate)
      repeat try values.encode(each input)
    }

    public init(from decoder: any Decoder) throws {
      var values = try decoder.unkeyedContainer()
      predicate = try values.decode(Condition.self)
      input = (repeat try values.decode((each Input).self))
    }
  }
  extension PredicateExpressions.PredicateEvaluate: StandardPredicateExpression
  where Condition: StandardPredicateExpression, repeat each Input: StandardPredicateExpression {}

#endif
