import CoreDataArchives
import Foundation

/// Predicates, expressions and sort descriptors in coders of Foundation's, mostly as members of something
/// else that is archived.
///
/// Clarus writes one archive of its own under one key: Foundation on Linux gives no class another name in an
/// archive, so no other system could read the parts. Apple's systems write the fields of
/// ``PredicateArchiveForm``, part by part; their class names are those of ``ArchiveClasses``.
enum CoderArchive {
  static func encode(_ node: PredicateNode, with coder: NSCoder) {
    encode(with: coder) { try PredicateArchive.data(of: node) }
  }

  static func encode(_ node: ExpressionNode, with coder: NSCoder) {
    encode(with: coder) { try PredicateArchive.data(of: node) }
  }

  static func encode(_ descriptor: NSSortDescriptor, with coder: NSCoder) {
    encode(with: coder) { try PredicateArchive.data(of: descriptor) }
  }

  private static func encode(with coder: NSCoder, _ data: () throws -> Data) {
    do {
      coder.encode(NSData(data: try data()), forKey: PredicateArchive.codingKey)
    } catch {
      fail(coder, error)
    }
  }

  static func predicateNode(_ coder: NSCoder, className: String) -> PredicateNode? {
    decode(
      coder, own: { try PredicateArchive.predicateNode(from: $0, allowed: coder.allowedClasses ?? []) },
      parts: {
        let node: PredicateNode = try PredicateArchiveForm.predicate(
          CoderFields(coder: coder, className: className, progress: $0))
        try $0.note(node.depth, node.count(upTo: $0.remaining))
        return node
      })
  }

  static func expressionNode(_ coder: NSCoder) -> ExpressionNode? {
    decode(
      coder, own: { try PredicateArchive.expressionNode(from: $0, allowed: coder.allowedClasses ?? []) },
      parts: {
        let node: ExpressionNode = try PredicateArchiveForm.expression(
          CoderFields(coder: coder, className: CoderFields.expressionClassName(coder), progress: $0))
        try $0.note(node.depth, node.count(upTo: $0.remaining))
        return node
      })
  }

  static func sortDescriptor(_ coder: NSCoder) -> SortDescriptorArchiveForm.Content? {
    decode(
      coder, own: { try PredicateArchive.sortDescriptor(from: $0) },
      parts: {
        try SortDescriptorArchiveForm.Content(
          CoderFields(coder: coder, className: "NSSortDescriptor", progress: $0))
      })
  }

  private static func decode<Result>(
    _ coder: NSCoder, own: (Data) throws -> Result, parts: (Progress) throws -> Result
  ) -> Result? {
    do {
      if coder.containsValue(forKey: PredicateArchive.codingKey) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: PredicateArchive.codingKey) else {
          throw PlistError("the key \(PredicateArchive.codingKey) holds no data")
        }
        return try own(Data(referencing: data))
      }
      let progress: Progress = Progress.current ?? Progress()
      try progress.enter()
      defer { progress.leave() }
      return try Progress.$current.withValue(progress) { try parts(progress) }
    } catch {
      fail(coder, error)
      return nil
    }
  }

  private static func fail(_ coder: NSCoder, _ error: any Error) {
    if coder is NSKeyedArchiver { return coder.report(error) }
    let reason: String = (error as? PlistError)?.reason ?? "\(error)"
    coder.report(
      ErrorMessage("A predicate can't be decoded: \(reason)")
        .cocoaError(CocoaError.Code.coderReadCorrupt.rawValue))
  }

  /// How far the decoding of one archive has come. Foundation's unarchiver follows cycles without end and
  /// returns shared parts again and again.
  final class Progress: @unchecked Sendable {
    // Confined to the thread that decodes.
    @TaskLocal static var current: Progress?

    /// Foundation recurses on its caller's stack without checking its size.
    private static let depthLimit: Int = 100

    private var depth: Int = 0
    private(set) var remaining: Int = 1_000_000

    func enter() throws {
      depth += 1
      guard depth <= Self.depthLimit else { throw PlistError("it nests too deep or contains itself") }
    }

    func leave() {
      depth -= 1
    }

    func note(_ depth: Int, _ count: Int) throws {
      remaining -= count
      guard depth <= TreeLimits.depth, remaining > 0 else { throw PlistError("it is too deep or too large") }
    }

    /// Counts a Foundation value before it is copied: its collections may share members.
    func note(value: Any?) throws {
      remaining -= 1
      guard remaining > 0 else { throw PlistError("its values expand without end") }
      switch value {
      case let members as [Any]: for member in members { try note(value: member) }
      case let members as Set<AnyHashable>: for member in members { try note(value: member.base) }
      case let entries as [AnyHashable: Any]:
        for (key, member) in entries {
          try note(value: key.base)
          try note(value: member)
        }
      default: break
      }
    }
  }
}

extension PredicateNode {
  /// The number of expressions in the tree, or a number above the limit.
  fileprivate func count(upTo limit: Int) -> Int {
    var counter: LimitedCounter = LimitedCounter(limit: limit)
    try? forEachExpression { _ in try counter.add() }
    return counter.count
  }
}

extension ExpressionNode {
  fileprivate func count(upTo limit: Int) -> Int {
    var counter: LimitedCounter = LimitedCounter(limit: limit)
    try? forEachExpression { _ in try counter.add() }
    return counter.count
  }
}

private struct LimitedCounter {
  struct LimitReached: Error {}

  let limit: Int
  var count: Int = 1

  mutating func add() throws {
    count += 1
    if count > limit { throw LimitReached() }
  }
}

extension NSCoder {
  /// Reports an error: an archiver throws it at its end, where `failWithError(_:)` would stop the program; an
  /// unarchiver follows its failure policy.
  package func report(_ error: any Error) {
    if let archiver = self as? NSKeyedArchiver {
      archiver.error = error
    } else {
      failWithError(error)
    }
  }
}
