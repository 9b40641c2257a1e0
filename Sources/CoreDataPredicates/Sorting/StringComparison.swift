import Foundation

/// How a sort descriptor orders strings; replaces Apple's comparison selectors, which Linux doesn't have.
public enum StringComparison: String, Hashable, Sendable, CaseIterable {
  /// By code points: `compare:`.
  case plain
  /// `caseInsensitiveCompare:`
  case caseInsensitive
  /// By the rules of the current locale: `localizedCompare:`.
  case localized
  /// `localizedCaseInsensitiveCompare:`
  case localizedCaseInsensitive
  /// As a file manager lists names, `2` before `10`: `localizedStandardCompare:`.
  case localizedStandard

  /// The comparison of Apple's selector of this name, nil for any other.
  public init?(selectorName: String) {
    switch selectorName {
    case "compare:": self = .plain
    case "caseInsensitiveCompare:": self = .caseInsensitive
    case "localizedCompare:": self = .localized
    case "localizedCaseInsensitiveCompare:": self = .localizedCaseInsensitive
    case "localizedStandardCompare:": self = .localizedStandard
    default: return nil
    }
  }

  /// Apple's selector for the comparison, as archives hold it.
  public var selectorName: String {
    switch self {
    case .plain: "compare:"
    case .caseInsensitive: "caseInsensitiveCompare:"
    case .localized: "localizedCompare:"
    case .localizedCaseInsensitive: "localizedCaseInsensitiveCompare:"
    case .localizedStandard: "localizedStandardCompare:"
    }
  }
}
