import Foundation

/// The predicate of a format and its arguments.
package struct ParsedFormat {
  package let node: PredicateNode
  /// The predicate's shape, if it is known without a walk over the predicate.
  package var shape: PredicateShape?
  /// Whether the arguments may be predicates or expressions.
  package var mayContainTrees: Bool = true
}

/// Trees of formats that were parsed before, with places for the arguments.
///
///     "number == %lld"      number == ▢0        the tree is kept with a mark in the place of each argument
///     "%K == %@"            name == ▢1          for the key path it was parsed with: another one is parsed
///
/// An argument that is itself a predicate or an expression becomes part of the tree; a format with such a one
/// is parsed each time.
///
/// A format is kept at its second use. Programs also write values into formats. Each such format is used
/// once, and a tree with marks for it would be wasted.
package final class FormatCache: @unchecked Sendable {
  // `lock` guards `entries`, `hashesOfFirstUses` and `counted`.
  package static let shared: FormatCache = .init(capacity: 256, firstUses: 1024)

  /// How often something happened.
  package struct Counts: Equatable {
    package var hits: Int = 0
    package var misses: Int = 0

    package init(hits: Int = 0, misses: Int = 0) { (self.hits, self.misses) = (hits, misses) }
  }

  private let capacity: Int
  private let lock: NSLock = .init()
  @exclusivity(unchecked) private var entries: [LiteralText: FormatTemplate] = [:]
  /// Hashes of formats that were used once, each at the index given by its last bits.
  @exclusivity(unchecked) private var hashesOfFirstUses: [Int]
  @exclusivity(unchecked) private var counted: Counts = .init()

  /// Longer formats were most likely generated, and are used once.
  private static let longestFormat: Int = 1024

  /// - Parameters:
  ///   - capacity: How many formats are kept.
  ///   - firstUses: How many formats that were used once are noted, a power of two. With 0, formats are kept
  ///     at their first use.
  package init(capacity: Int, firstUses: Int = 0) {
    self.capacity = capacity
    hashesOfFirstUses = Array(repeating: 0, count: firstUses)
  }

  package var counts: Counts { lock.withLock { counted } }
  package var count: Int { lock.withLock { entries.count } }

  /// The predicate of a format and its arguments.
  ///
  /// - Throws: ``PredicateError`` naming the position.
  package func predicate(_ format: String, _ arguments: [Any?]) throws(PredicateError) -> ParsedFormat {
    guard format.utf8.count <= Self.longestFormat else {
      return ParsedFormat(node: try Parser.parse(format, arguments))
    }
    let key: LiteralText = .init(format)
    lock.lock()
    let known: FormatTemplate? = entries[key]
    if known != nil { counted.hits += 1 } else { counted.misses += 1 }
    let isFirstUse: Bool = known == nil && noteUse(key)
    lock.unlock()
    if let known {
      if let found = known.filled(arguments) { return found }
    } else if !isFirstUse, !arguments.contains(where: { FormatTemplate.isTree(Parser.unwrapped($0)) }),
      let template = FormatTemplate(format, arguments)
    {
      keep(template, key)
      if let made = template.filled(arguments) { return made }
    }
    return ParsedFormat(node: try Parser.parse(format, arguments))
  }

  /// Notes a use of a format that is not kept, and returns whether it is the first. A note may have been
  /// replaced by another format's; then a later use counts as the first. The caller holds `lock`.
  private func noteUse(_ key: LiteralText) -> Bool {
    if hashesOfFirstUses.isEmpty { return false }
    let hash: Int = key.hashValue
    let index: Int = hash & (hashesOfFirstUses.count - 1)
    if hashesOfFirstUses[index] == hash { return false }
    hashesOfFirstUses[index] = hash
    return true
  }

  private func keep(_ template: FormatTemplate, _ key: LiteralText) {
    lock.withLock {
      // Emptied as a whole: few programs have more formats, and these pay one parse each.
      if entries.count >= capacity { entries.removeAll(keepingCapacity: true) }
      entries[key] = template
    }
  }
}
