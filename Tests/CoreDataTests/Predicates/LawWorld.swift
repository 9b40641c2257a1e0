import CoreData
import CoreDataPredicates
import Foundation
import StackSupport
import TestSupport

/// One population in a store, and its objects as a context reads them from there.
final class LawStore {
  let kind: StoreKind
  fileprivate let stack: Stack
  let context: NSManagedObjectContext
  /// By the top of the hierarchy and number.
  private var objects: [String: [Int: NSManagedObject]] = [:]
  /// By entity, in the order of their keys.
  private(set) var rows: [String: [NSManagedObject]] = [:]

  init(_ kind: StoreKind, population: LawPopulation) throws {
    self.kind = kind
    stack = try Stack(kind, model: LawModel.shared)
    try stack.run { try population.fill($0) }
    context = stack.other()
    try context.performAndWait {
      for (name, entity) in LawModel.entities {
        let all: [NSManagedObject] = try context.all(NSManagedObject.self, name).sorted {
          $0.lawKey < $1.lawKey
        }
        rows[name] = all
        for object in all { objects[entity.root, default: [:]][object.lawNumber] = object }
      }
    }
  }

  /// The predicate with objects of this store in place of marks.
  func resolve(_ node: PredicateNode) -> PredicateNode { node.mapConstants(resolve) }

  func resolve(_ value: PredicateValue) -> PredicateValue {
    switch value {
    case .object(let box):
      guard let mark = box.value as? ObjectMark, let object = objects[mark.root]?[mark.number] else {
        return value
      }
      return .object(ObjectBox(object))
    case .array(let members): return .array(members.map(resolve))
    case .set(let members): return .set(Set(members.map(resolve)))
    default: return value
    }
  }
}

extension LawStore {
  /// A context with changes that are not saved: values set, objects inserted and deleted.
  func changedContext(_ random: inout SeededRandom) throws -> NSManagedObjectContext {
    let context: NSManagedObjectContext = stack.other()
    try context.performAndWait {
      let things: [NSManagedObject] = try context.all(NSManagedObject.self, "LawThing").sorted {
        $0.lawKey < $1.lawKey
      }
      for thing in things where Int.random(in: 0..<5, using: &random) == 0 {
        if Int.random(in: 0..<4, using: &random) == 0 {
          context.delete(thing)
        } else {
          change(thing, &random)
        }
      }
      for _ in 0..<4 { change(context.make("LawPart"), &random) }
    }
    return context
  }

  private func change(_ object: NSManagedObject, _ random: inout SeededRandom) {
    for (key, attribute) in object.entity.attributesByName.sorted(by: { $0.key < $1.key })
    where key != "number" {
      object.setValue(LawValues.value(attribute.attributeType, &random), forKey: key)
    }
  }
}

extension NSManagedObject {
  var lawNumber: Int { (value(forKey: "number") as? NSNumber)?.intValue ?? -1 }

  /// The primary key, which orders what nothing else does.
  fileprivate var lawKey: Int { Int(objectID.uriRepresentation().lastPathComponent.dropFirst()) ?? 0 }
}

/// A predicate, asked of objects in memory and of their store.
struct LawCase {
  let entity: String
  let node: PredicateNode
  let bindings: [String: PredicateValue]

  enum Outcome {
    /// How many rows match of those that memory has an answer for, and whether the database did it all.
    case agreed(matching: Int, answered: Int, isSQL: Bool)
    /// The store says that it can't.
    case refused(String)
    case different(String)

    var isDifferent: Bool { if case .different = self { true } else { false } }
  }

  /// One and the same moment for memory and the store, or `now()` differs between them.
  func run(_ store: LawStore) -> Outcome {
    PredicateClock.$fixed.withValue(Date(timeIntervalSinceReferenceDate: 800_000_000.5)) {
      store.context.performAndWait { runOnQueue(store) }
    }
  }

  private func runOnQueue(_ store: LawStore) -> Outcome {
    let node: PredicateNode = store.resolve(self.node)
    let values: [String: Any] = bindings.mapValues { store.resolve($0).anyValue ?? NSNull() }
    let rows: [NSManagedObject] = store.rows[entity] ?? []
    let strict = PredicateProgram(node)
    let lenient = PredicateProgram(node)
    let answers: [Bool?] = rows.map { try? lenient.evaluate($0, variables: values) }
    let answered: Int = answers.count { $0 != nil }
    var differences: [String] = []
    for (row, answer) in zip(rows, answers) {
      guard let plain = try? strict.evaluate(row, variables: values), plain != answer,
        !Self.meetsNoNumber(node, row, values)
      else { continue }
      differences.append(
        "\(plain) in memory, by the rules of stores \(answer.map { "\($0)" } ?? "an error"): \(Self.describe(row))"
      )
    }
    let found: Set<NSManagedObjectID>
    do {
      found = try fetch(node, values, store)
    } catch {
      // Where every row fails in memory the store is right to refuse.
      return answered == 0 ? .agreed(matching: 0, answered: 0, isSQL: false) : .refused("\(error)")
    }
    for (row, answer) in zip(rows, answers) {
      guard let answer, found.contains(row.objectID) != answer else { continue }
      differences.append("\(answer ? "missing" : "too many"): \(Self.describe(row))")
    }
    if differences.isEmpty {
      return .agreed(
        matching: answers.count { $0 == true }, answered: answered, isSQL: isSQL(node, values, store))
    }
    return .different(differences.prefix(3).joined(separator: "\n"))
  }

  /// Whether an operation may give what is no number, such as the logarithm of -1: nil for stores
  /// (Decisions/0013).
  private static func meetsNoNumber(
    _ node: PredicateNode, _ row: NSManagedObject, _ values: [String: Any]
  ) -> Bool {
    var result: Bool = false
    node.forEachExpression { part in
      guard case .function(nil, let name, _) = part else { return }
      do {
        let value: PredicateValue = try ExpressionProgram(part).value(row, variables: values)
        if case .double(let number) = value, number.isNaN { result = true }
      } catch {
        // It reads a variable of a subquery.
        let risky: [String] = ["sqrt:", "ln:", "log:", "modulus:by:", "divide:by:"]
        if risky.contains(name) { result = true }
      }
    }
    return result
  }

  private func fetch(
    _ node: PredicateNode, _ values: [String: Any], _ store: LawStore
  ) throws -> Set<NSManagedObjectID> {
    let request: NSFetchRequest<NSManagedObjectID> = request(node, values)
    request.resultType = .managedObjectIDResultType
    return Set(try store.context.fetch(request))
  }

  private func request<T>(_ node: PredicateNode, _ values: [String: Any]) -> NSFetchRequest<T> {
    let request = NSFetchRequest<T>(entityName: entity)
    let predicate: NSPredicate = makePredicate(node)
    request.predicate = values.isEmpty ? predicate : predicate.withSubstitutionVariables(values)
    return request
  }

  private func isSQL(_ node: PredicateNode, _ values: [String: Any], _ store: LawStore) -> Bool {
    let request: NSFetchRequest<NSManagedObject> = request(node, values)
    let explanations: [FetchExplanation]? = try? request.explain(in: store.context)
    return explanations.map { !$0.isEmpty && $0.allSatisfy(\.evaluatedInMemory.isEmpty) } ?? false
  }

  /// For people: the predicate, what its variables stand for, and the statement.
  var text: String {
    var text: String = "\(entity): \(Printer.print(node))"
    for (name, value) in bindings.sorted(by: { $0.key < $1.key }) where node.variables.contains(name) {
      text += "\n  $\(name) = \(ValuePrinter.print(value))"
    }
    return text
  }

  private static func describe(_ object: NSManagedObject) -> String {
    let values: [String] = object.entity.propertiesByName.keys.sorted().compactMap { key in
      switch object.value(forKey: key) {
      case nil: return nil
      case let other as NSManagedObject: return "\(key) \(other.lawNumber)"
      case let members as NSSet:
        return "\(key) \(members.compactMap { ($0 as? NSManagedObject)?.lawNumber }.sorted())"
      case let members as NSOrderedSet:
        return "\(key) \(members.compactMap { ($0 as? NSManagedObject)?.lawNumber })"
      case .some(let value): return "\(key) \(ValuePrinter.print(PredicateValue(normalizing: value)))"
      }
    }
    return "\(object.entity.name ?? "") {\(values.joined(separator: ", "))}"
  }
}
