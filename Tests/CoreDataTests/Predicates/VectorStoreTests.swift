import CoreData
import CoreDataPredicates
import Foundation
import PredicateVectors
import StackSupport
import Testing

/// Every vector over an object that a store can hold gives the same answer there.
///
/// Each evaluation of a vector becomes an entity of its own with one object; the fetch finds it or not:
///
///     a dictionary              an object; nested ones to-one, arrays and sets of them to-many
///     a text, number or date    an object with the attribute `value`; SELF is written `value`
///     an array of such          a transformable attribute, which a database can't look into
struct VectorStoreTests {
  @Test(
    .enabled(if: SharedVectors.isPresent, "the shared predicate vectors are not beside the repository"),
    arguments: StoreKind.allCases)
  func `every shared vector over a storable object gives the same answer through a store`(
    kind: StoreKind
  ) throws {
    let url: URL = try #require(SharedVectors.url)
    try run(try PredicateVector.read(try Data(contentsOf: url)), kind, least: (899, 893))
  }

  @Test(arguments: StoreKind.allCases)
  func `every vector of our own over a storable object gives the same answer through a store`(
    kind: StoreKind
  ) throws {
    let tables: [PredicateVector] = try VectorTable.all.flatMap { try $0.vectors() }
    try run(try PredicateVector.read(Data(ownVectors.utf8)) + tables, kind, least: (745, 734))
  }

  /// `least` is what got through when this was written: evaluations stored, and those with the right answer.
  /// Fewer is a loss. Fetches refuse a text for a number (Decisions/0053), which a few vectors compare.
  private func run(
    _ vectors: [PredicateVector], _ kind: StoreKind, least: (stored: Int, passed: Int)
  ) throws {
    var rows: [VectorRow] = []
    var outcomes: [(topic: String, outcome: VectorRow.Outcome)] = []
    for vector in vectors where vector.parses {
      for row in VectorRow.rows(of: vector, first: rows.count) {
        switch row {
        case .success(let row): rows.append(row)
        case .failure(let misfit): outcomes.append((vector.topic, .notStorable(misfit.reason)))
        }
      }
    }
    let model = NSManagedObjectModel()
    var made = VectorModel()
    for row in rows { made.add(row.entity, row.shape) }
    model.entities = made.entities
    let stack = try Stack(kind, model: model)
    try stack.run { context in
      for row in rows { row.insert(into: context) }
      try context.save()
    }
    try stack.elsewhere { context in
      for row in rows {
        let outcome: VectorRow.Outcome = row.run(in: context)
        if case .wrong(let text) = outcome {
          Issue.record("\(row.vector.id) \(row.vector.format): \(text)")
        }
        outcomes.append((row.vector.topic, outcome))
      }
    }
    let table = VectorReport(outcomes)
    print("\(kind.rawValue):\n\(table.text)")
    #expect(table.total.stored >= least.stored)
    #expect(table.total.passed >= least.passed)
  }
}

/// One evaluation of a vector, ready for a store.
struct VectorRow {
  enum Outcome {
    /// The same answer; an error where one is expected counts, an empty result there too.
    case passed(raised: Bool)
    case foundNothingInsteadOfFailing
    case wrong(String)
    /// The store says that it can't: the reason.
    case refused(String)
    case notStorable(String)
  }

  let vector: PredicateVector
  let evaluation: PredicateVector.Evaluation
  let entity: String
  let shape: [String: VectorShape]
  private let values: [String: Any]
  private let node: PredicateNode

  static func rows(of vector: PredicateVector, first: Int) -> [Result<VectorRow, VectorShape.Misfit>] {
    guard let node = try? NSPredicate(parsing: vector.format, arguments: vector.arguments).predicateNode()
    else {
      return []
    }
    // Keys that are nil in one object have the type of another's.
    var known: [String: VectorShape] = [:]
    for evaluation in vector.evaluations {
      guard let shape = try? VectorShape.entries(wrapped(evaluation.object)),
        let merged = try? VectorShape.merge(known, shape)
      else { continue }
      known = merged
    }
    return vector.evaluations.enumerated().map { number, evaluation in
      do throws(VectorShape.Misfit) {
        return .success(
          try VectorRow(vector, evaluation, node, known: known, entity: "Row\(first)_\(number)"))
      } catch {
        return .failure(error)
      }
    }
  }

  private init(
    _ vector: PredicateVector, _ evaluation: PredicateVector.Evaluation, _ node: PredicateNode,
    known: [String: VectorShape], entity: String
  ) throws(VectorShape.Misfit) {
    self.vector = vector
    self.evaluation = evaluation
    self.entity = entity
    values = Self.wrapped(evaluation.object)
    self.node = evaluation.object is [String: Any] ? node : Self.readingValue(node)
    do {
      let own: [String: VectorShape] = try VectorShape.entries(values)
      let filled: [String: VectorShape] = (try? VectorShape.merge(own, known)) ?? own
      // Where objects differ in kind each has an entity of its own kind.
      shape = try VectorShape.completing(filled, for: self.node)
    } catch let misfit as VectorShape.Misfit {
      throw misfit
    } catch {
      throw VectorShape.Misfit(reason: "\(error)")
    }
  }

  /// A plain value as an object that has it.
  private static func wrapped(_ object: Any?) -> [String: Any] {
    object as? [String: Any] ?? ["value": object ?? NSNull()]
  }

  /// The predicate with SELF read from the attribute `value`.
  private static func readingValue(_ node: PredicateNode) -> PredicateNode {
    node.mapExpressions { expression in
      switch expression {
      case .evaluatedObject: .keyPath("value")
      case .keyPath(let path): .keyPath("value.\(path)")
      default: expression
      }
    }
  }

  func insert(into context: NSManagedObjectContext) {
    guard let entity = NSEntityDescription.entity(forEntityName: entity, in: context) else { return }
    _ = VectorModel.insert(entity, values, into: context)
  }

  func run(in context: NSManagedObjectContext) -> Outcome {
    let predicate: NSPredicate = makePredicate(node.substituting(variables: evaluation.bindings ?? [:]))
    do {
      let found: [NSManagedObject] = try context.all(NSManagedObject.self, entity, predicate)
      guard let result = evaluation.result else {
        return found.isEmpty
          ? .foundNothingInsteadOfFailing : .wrong("matches \(evaluation.text) instead of failing")
      }
      if result != found.isEmpty { return .passed(raised: false) }
      return .wrong("\(result ? "misses" : "finds") \(evaluation.text)")
    } catch {
      if evaluation.result == nil { return .passed(raised: true) }
      return .refused((error as NSError).localizedDescription)
    }
  }
}

/// What became of the vectors, by topic.
struct VectorReport {
  struct Line {
    var all: Int = 0
    var stored: Int = 0
    var passed: Int = 0
  }

  private var lines: [String: Line] = [:]
  private(set) var total = Line()
  private var raised: (error: Int, nothing: Int) = (0, 0)
  private var reasons: [String: Int] = [:]
  private var refusals: [String: Int] = [:]

  init(_ outcomes: [(topic: String, outcome: VectorRow.Outcome)]) {
    for (topic, outcome) in outcomes {
      var line = Line(all: 1, stored: 1, passed: 1)
      switch outcome {
      case .passed(let isError): raised.error += isError ? 1 : 0
      case .foundNothingInsteadOfFailing: raised.nothing += 1
      case .wrong: line.passed = 0
      case .refused(let reason):
        line.passed = 0
        refusals[reason, default: 0] += 1
      case .notStorable(let reason):
        line.stored = 0
        line.passed = 0
        reasons[reason, default: 0] += 1
      }
      lines[topic, default: Line()].add(line)
      total.add(line)
    }
  }

  var text: String {
    var text: String = "topic                             evaluations  storable  same answer\n"
    for (topic, line) in lines.sorted(by: { $0.key < $1.key }) + [("all", total)] {
      text += topic.padding(toLength: 32, withPad: " ", startingAt: 0)
      for (number, width) in [(line.all, 13), (line.stored, 10), (line.passed, 13)] {
        text += String(repeating: " ", count: max(1, width - "\(number)".count)) + "\(number)"
      }
      text += "\n"
    }
    text += "where evaluation fails: \(raised.error) errors, \(raised.nothing) times no match\n"
    for (reason, count) in reasons.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
      text += "not storable, \(count): \(reason)\n"
    }
    for (reason, count) in refusals.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
      text += "refused, \(count): \(reason)\n"
    }
    return text
  }
}

extension VectorReport.Line {
  fileprivate mutating func add(_ other: VectorReport.Line) {
    all += other.all
    stored += other.stored
    passed += other.passed
  }
}
