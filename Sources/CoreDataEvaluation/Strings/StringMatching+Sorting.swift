import CoreDataPredicates
import Foundation

extension StringMatching {
  /// The order of two texts for sorting.
  package static func compare(
    _ left: String, _ right: String, by comparison: StringComparison
  ) -> ComparisonResult {
    let options: String.CompareOptions
    switch comparison {
    case .plain: return compare(left, right)
    case .caseInsensitive: return compare(left, right, .caseInsensitive)
    case .localized: options = []
    case .localizedCaseInsensitive: options = .caseInsensitive
    case .localizedStandard: options = [.caseInsensitive, .numeric, .widthInsensitive, .forcedOrdering]
    }
    return left.compare(right, options: options, range: nil, locale: .current)
  }
}
