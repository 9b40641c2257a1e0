// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The name of a method, such as `localizedStandardCompare:`.
///
/// Linux has no selectors and `#selector` doesn't compile there. Wherever Apple's classes take one,
/// its name does:
///
/// ```swift
/// NSSortDescriptor(key: "name", ascending: true, selector: Selector("localizedStandardCompare:"))
/// NSComparisonPredicate(leftExpression: a, rightExpression: b, customSelector: "hasPrefix:")
/// ```
///
/// What the name does is looked up when it is needed, among the usual methods of Foundation's classes and
/// those that are registered with ``PredicateFunctions``.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  private let name: String

  /// The selector of this name, colons included.
  public init(_ str: String) {
    name = str
  }

  public init(stringLiteral value: String) {
    name = value
  }

  /// The name.
  public var description: String { name }
}

/// The name of a selector.
public func NSStringFromSelector(_ aSelector: Selector) -> String {
  aSelector.description
}

/// The selector of a name.
public func NSSelectorFromString(_ aSelectorName: String) -> Selector {
  Selector(aSelectorName)
}
