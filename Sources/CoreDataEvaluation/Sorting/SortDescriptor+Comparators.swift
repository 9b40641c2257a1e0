import CoreDataPredicates
import Foundation

// Swift sort descriptors that Foundation makes on Apple's platforms only. On Linux a `SortDescriptor` can
// hold a key path of `Comparable` values, and only the lexical comparison of text; so these hold a path to a
// value with the wanted order: `\Item.title.localizedStandardSortKey`.

#if !canImport(Darwin)

  extension String {
    /// The comparisons that `String.StandardComparator` has on Apple's platforms only.
    public enum LocalizedComparator: Sendable {
      /// As a file manager lists names: regardless of case, `2` before `10`, by the rules of
      /// the current locale.
      case localizedStandard
      /// By the rules of the current locale.
      case localized
    }
  }

  extension String.StandardComparator {
    /// See ``Swift/String/LocalizedComparator/localizedStandard``.
    public static var localizedStandard: String.LocalizedComparator { .localizedStandard }
    /// See ``Swift/String/LocalizedComparator/localized``.
    public static var localized: String.LocalizedComparator { .localized }
  }

  extension SortDescriptor {
    /// Sorts by text that is compared by the rules of the current locale.
    public init(
      _ keyPath: KeyPath<Compared, String> & Sendable, comparator: String.LocalizedComparator,
      order: SortOrder = .forward
    ) {
      let path: KeyPath<Compared, LocalizedSortKey> & Sendable
      let comparison: StringComparison
      switch comparator {
      case .localizedStandard:
        (path, comparison) = (keyPath.below(\.localizedStandardSortKey), .localizedStandard)
      case .localized: (path, comparison) = (keyPath.below(\.localizedSortKey), .localized)
      }
      SortKeyOrigins.register(path, from: keyPath, comparison)
      self.init(path, order: order)
    }

    /// Sorts by text that is compared by the rules of the current locale, nil first.
    public init(
      _ keyPath: KeyPath<Compared, String?> & Sendable, comparator: String.LocalizedComparator,
      order: SortOrder = .forward
    ) {
      let path: KeyPath<Compared, LocalizedSortKey?> & Sendable
      let comparison: StringComparison
      switch comparator {
      case .localizedStandard:
        (path, comparison) = (keyPath.below(\.localizedStandardSortKey), .localizedStandard)
      case .localized: (path, comparison) = (keyPath.below(\.localizedSortKey), .localized)
      }
      SortKeyOrigins.register(path, from: keyPath, comparison)
      self.init(path, order: order)
    }
  }

  // What Apple's framework does for all types of objects is done here for objects that predicates read, so
  // that importing this module does not change other sort descriptors.
  extension SortDescriptor where Compared: KeyValueReadable {
    /// Sorts by text, as on Apple's platforms as a file manager lists names.
    public init(_ keyPath: KeyPath<Compared, String> & Sendable, order: SortOrder = .forward) {
      self.init(keyPath, comparator: .localizedStandard, order: order)
    }

    /// Sorts by text, as on Apple's platforms as a file manager lists names; nil first.
    public init(_ keyPath: KeyPath<Compared, String?> & Sendable, order: SortOrder = .forward) {
      self.init(keyPath, comparator: .localizedStandard, order: order)
    }

    /// Sorts by a Boolean value, false first.
    public init(_ keyPath: KeyPath<Compared, Bool> & Sendable, order: SortOrder = .forward) {
      let path: KeyPath<Compared, Int> & Sendable = keyPath.below(\.sortKey)
      SortKeyOrigins.register(path, from: keyPath, .plain)
      self.init(path, order: order)
    }

    /// Sorts by a Boolean value, nil first, then false.
    public init(_ keyPath: KeyPath<Compared, Bool?> & Sendable, order: SortOrder = .forward) {
      let path: KeyPath<Compared, Int?> & Sendable = keyPath.below(\.sortKey)
      SortKeyOrigins.register(path, from: keyPath, .plain)
      self.init(path, order: order)
    }
  }

  extension KeyPath {
    /// Appends a path to this path.
    fileprivate func below<Other>(_ path: KeyPath<Value, Other>) -> KeyPath<Root, Other> & Sendable {
      // Both are literals or were passed as sendable ones.
      unsafeBitCast(appending(path: path), to: (KeyPath<Root, Other> & Sendable).self)
    }
  }

  /// Text that compares by the rules of the current locale.
  private struct LocalizedSortKey: Comparable {
    let text: String
    let comparison: StringComparison

    static func < (left: LocalizedSortKey, right: LocalizedSortKey) -> Bool {
      StringMatching.compare(left.text, right.text, by: left.comparison) == .orderedAscending
    }

    static func == (left: LocalizedSortKey, right: LocalizedSortKey) -> Bool {
      StringMatching.compare(left.text, right.text, by: left.comparison) == .orderedSame
    }
  }

  extension String {
    fileprivate var localizedStandardSortKey: LocalizedSortKey {
      LocalizedSortKey(text: self, comparison: .localizedStandard)
    }
    fileprivate var localizedSortKey: LocalizedSortKey {
      LocalizedSortKey(text: self, comparison: .localized)
    }
  }

  extension String? {
    fileprivate var localizedStandardSortKey: LocalizedSortKey? { map(\.localizedStandardSortKey) }
    fileprivate var localizedSortKey: LocalizedSortKey? { map(\.localizedSortKey) }
  }

  extension Bool {
    fileprivate var sortKey: Int { self ? 1 : 0 }
  }

  extension Bool? {
    fileprivate var sortKey: Int? { map(\.sortKey) }
  }

#endif
