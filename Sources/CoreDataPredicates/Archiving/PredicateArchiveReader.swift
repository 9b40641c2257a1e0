import CoreDataArchives
import Foundation

/// Reads predicates and expressions out of the object table of a keyed archive.
package final class PredicateArchiveReader {
  private let archive: KeyedArchive
  private var values: KeyedArchive.ValueDecoder
  private let isStrict: Bool
  /// Limits the work for archives that share sub-expressions. Genuine archives share few objects, mainly the
  /// evaluated object.
  private var remaining: Int
  /// The greatest depth of nested parts in this attempt.
  private var depthLimit: Int = 0

  /// Names of classes whose instances were kept undecoded.
  package var unknownClasses: [String] { values.unknownClasses }

  /// A reader for models, which keep unknown functions and selectors.
  package init(_ archive: KeyedArchive) {
    self.archive = archive
    values = KeyedArchive.ValueDecoder(archive, allowsUndefinedDates: false)
    isStrict = false
    remaining = Self.limit(for: archive)
  }

  /// A reader that throws for what can't be evaluated, and for objects that are not of the allowed classes.
  init(_ archive: KeyedArchive, allowed: [AnyClass]) {
    self.archive = archive
    values = KeyedArchive.ValueDecoder(archive, foreign: .allowed(allowed), allowsUndefinedDates: false)
    isStrict = true
    remaining = Self.limit(for: archive)
  }

  /// A reader for data from anywhere: strict, without classes of the program. What it reads can't be
  /// evaluated before `allowEvaluation()`.
  package convenience init(untrusted archive: KeyedArchive) {
    self.init(archive, allowed: [])
  }

  private static func limit(for archive: KeyedArchive) -> Int {
    100_000 + 8 * archive.objects.count
  }

  package func predicate(_ node: PlistNode?, of label: String) throws -> Foundation.NSPredicate {
    .makePredicate(try predicateNode(node, of: label), permission: permission)
  }

  package func expression(_ node: PlistNode?, of label: String) throws -> NSExpression {
    NSExpression(node: try expressionNode(node, of: label), permission: permission)
  }

  private var permission: EvaluationPermission? { isStrict ? EvaluationPermission() : nil }

  func predicateNode(_ node: PlistNode?, of label: String) throws -> PredicateNode {
    let result = try withStack { try PredicateArchiveForm.predicate(fields(node, depth: 0, label)) }
    try check(depth: result.depth, label)
    return result
  }

  func expressionNode(_ node: PlistNode?, of label: String) throws -> ExpressionNode {
    let result = try withStack {
      let fields = try fields(node, depth: 0, label)
      return try PredicateArchiveForm.operand(PredicateArchiveForm.expression(fields), fields)
    }
    try check(depth: result.depth, label)
    return result
  }

  private struct TooDeep: Error {}

  /// Reads shallow trees on the present stack, and deep ones again on one that suffices: the depth is known
  /// only after reading.
  private func withStack<Result>(_ read: () throws -> Result) throws -> Result {
    let unread = remaining
    do {
      depthLimit = StackGuard.shallow / 2
      return try read()
    } catch is TooDeep {
      remaining = unread
      // A key path is archived as a call with an operand, two levels where the tree has one; and a level here
      // needs the frames of two.
      depthLimit = TreeLimits.depth + 2
      return try StackGuard.run(levels: 2 * depthLimit, read)
    }
  }

  func sortDescriptor(_ node: PlistNode?, of label: String) throws -> SortDescriptorArchiveForm.Content {
    try SortDescriptorArchiveForm.Content(fields(node, depth: 0, label))
  }

  /// A sort descriptor. An unknown selector is read as `compare:` and reported, in a model; in data from
  /// anywhere it is an error.
  package func sortDescriptor(
    _ record: KeyedArchive.Record, of label: String, unknownSelector: (String) -> Void
  ) throws -> NSSortDescriptor {
    let content = try SortDescriptorArchiveForm.Content(
      ProjectionFields(reader: self, record: record, depth: 0, label: label))
    if isStrict { return KeySortDescriptor(content) }
    let selector = content.selector.description
    let comparison = StringComparison(selectorName: selector)
    if comparison == nil { unknownSelector(selector) }
    return .makeSortDescriptor(
      SortTerm(key: content.key, ascending: content.ascending, comparison: comparison ?? .plain))
  }

  private func check(depth: Int, _ label: String) throws {
    guard depth <= TreeLimits.depth else {
      throw PlistError("a predicate or expression of \(label) nests deeper than \(TreeLimits.depth) levels")
    }
  }

  private func fields(_ node: PlistNode?, depth: Int, _ label: String) throws -> ProjectionFields {
    remaining -= 1
    guard depth <= depthLimit || depthLimit > TreeLimits.depth else { throw TooDeep() }
    guard depth <= depthLimit, remaining > 0 else {
      throw PlistError("a predicate or expression of \(label) nests too deep or contains itself")
    }
    guard let index = try archive.index(node), let record = try archive.record(at: index) else {
      throw PlistError("a predicate or expression of \(label) has a missing part")
    }
    return ProjectionFields(reader: self, record: record, depth: depth, label: label)
  }

  /// The fields of one object of the table.
  private struct ProjectionFields: ArchivedFields {
    let reader: PredicateArchiveReader
    let record: KeyedArchive.Record
    let depth: Int
    let label: String

    var className: String { record.className }
    var isStrict: Bool { reader.isStrict }

    func integer(_ key: String) throws -> Int? {
      switch try reader.archive.resolve(record.fields[key]) {
      case nil: nil
      case .integer(let value): Int(value)
      case let other?: throw PlistError("\(key) in a predicate of \(label) is \(other.kind), not an integer")
      }
    }

    func flag(_ key: String) throws -> Bool {
      switch try reader.archive.resolve(record.fields[key]) {
      case nil: false
      case .boolean(let value): value
      case .integer(let value): value != 0
      case let other?: throw PlistError("\(key) in a predicate of \(label) is \(other.kind), not a Boolean")
      }
    }

    func text(_ key: String) throws -> String? {
      guard case .string(let text) = try reader.values.predicateValue(record.fields[key]) else { return nil }
      return text
    }

    func value(_ key: String) throws -> PredicateValue {
      try reader.values.predicateValue(record.fields[key])
    }

    func part(_ key: String) throws -> any ArchivedScalars {
      try reader.fields(record.fields[key], depth: depth + 1, label)
    }

    func predicate(_ key: String) throws -> PredicateNode {
      try PredicateArchiveForm.predicate(reader.fields(record.fields[key], depth: depth + 1, label))
    }

    func predicates(_ key: String) throws -> [PredicateNode] {
      try list(key).map {
        try PredicateArchiveForm.predicate(reader.fields($0, depth: depth + 1, label))
      }
    }

    func expression(_ key: String) throws -> ExpressionNode {
      try PredicateArchiveForm.expression(reader.fields(record.fields[key], depth: depth + 1, label))
    }

    func expressions(_ key: String) throws -> [ExpressionNode] {
      try list(key).map {
        try PredicateArchiveForm.expression(reader.fields($0, depth: depth + 1, label))
      }
    }

    private func list(_ key: String) throws -> [PlistNode] {
      guard let index = try reader.archive.index(record.fields[key]),
        let list = try reader.archive.record(at: index)
      else { throw PlistError("a predicate or expression of \(label) has no \(key)") }
      guard case .array(let members) = try reader.archive.resolve(list.fields["NS.objects"]) else {
        throw PlistError("a predicate or expression of \(label) has a \(list.className) where a list belongs")
      }
      return members
    }
  }
}
