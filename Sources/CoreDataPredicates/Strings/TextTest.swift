import Foundation

/// Text operators with a constant on the right, which is folded once and not once an object.
enum TextTest {
  /// Whether the operator under these options compares folded bytes.
  static func isTest(_ comparison: ComparisonOperator, _ options: ComparisonOptions) -> Bool {
    guard StringMatching.Mode(options) != .localized else { return false }
    return [.equalTo, .notEqualTo, .contains, .beginsWith, .endsWith].contains(comparison)
  }

  static func make(
    _ comparison: ComparisonOperator, _ constant: String, _ options: ComparisonOptions
  ) -> @Sendable (String) -> Bool {
    let needle: String = StringMatching.fold(constant, options: options)
    let isLiteral: Bool = StringMatching.Mode(options) == .literal
    let fold: @Sendable (String) -> String = { isLiteral ? $0 : StringMatching.fold($0, options: options) }
    switch comparison {
    case .equalTo: return { StringMatching.literallyEqual(fold($0), needle) }
    case .notEqualTo: return { !StringMatching.literallyEqual(fold($0), needle) }
    default: break
    }
    // An empty part is held nowhere.
    if needle.isEmpty { return { _ in false } }
    switch comparison {
    case .beginsWith: return { StringMatching.withBytes(fold($0), needle, ByteSearch.begins) }
    case .endsWith: return { StringMatching.withBytes(fold($0), needle, ByteSearch.ends) }
    default: return { StringMatching.withBytes(fold($0), needle, ByteSearch.contains) }
    }
  }
}
