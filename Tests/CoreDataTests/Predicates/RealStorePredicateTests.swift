import CoreData
import CoreDataPredicates
import Foundation
import StackSupport
import TestSupport
import Testing

/// Predicates made of the values that real stores hold find the same objects in the file as among
/// all objects in memory.
@Suite(.enabled(if: RealStores.folder != nil, "\(SharedFiles.absence)"))
struct RealStorePredicateTests {
  @Test(arguments: RealStores.withModel)
  func `predicates on stored values give the same objects in memory and from the file`(path: String) throws {
    let folder = try TemporaryFolder()
    let context: NSManagedObjectContext = try RealStores.open(try RealStores.copy(path, to: folder))
    var counts: (predicates: Int, telling: Int, refused: Int) = (0, 0, 0)
    try context.performAndWait {
      for entity in context.heldEntities {
        let rows: [NSManagedObject] = try context.all(NSManagedObject.self, entity.name ?? "")
        // Each predicate is asked of every row, and reading relationships asks the file once a row.
        guard !rows.isEmpty, rows.count <= 3_000 else { continue }
        var asked = AskedEntity(entity, rows)
        for predicate in asked.predicates(atMost: max(12, min(150, 12_000 / rows.count))) {
          counts.predicates += 1
          switch Self.difference(predicate, entity, rows, context) {
          case .success(let isTelling): counts.telling += isTelling ? 1 : 0
          case .failure(.refused): counts.refused += 1
          case .failure(.different(let text)):
            Issue.record("\(entity.name ?? ""): \(Printer.print(predicate))\n\(text)")
          }
        }
      }
    }
    print(
      "\(path): \(counts.predicates) predicates, \(counts.telling) tell rows apart, \(counts.refused) refused"
    )
    #expect(counts.refused == 0)
    // A law over empty results proves nothing.
    #expect(counts.telling * 5 >= counts.predicates)
  }

  private enum Failure: Error {
    case refused
    case different(String)
  }

  private static func difference(
    _ node: PredicateNode, _ entity: NSEntityDescription, _ rows: [NSManagedObject],
    _ context: NSManagedObjectContext
  ) -> Result<Bool, Failure> {
    let program = PredicateProgram(node)
    let answers: [Bool?] = rows.map { try? program.evaluate($0) }
    guard let objects = try? context.all(NSManagedObject.self, entity.name ?? "", makePredicate(node)) else {
      return answers.contains { $0 != nil } ? .failure(.refused) : .success(false)
    }
    let found: Set<NSManagedObject> = Set(objects)
    for (row, answer) in zip(rows, answers) {
      guard let answer, answer != found.contains(row) else { continue }
      return .failure(.different("\(answer ? "missing" : "too many"): \(row)"))
    }
    return .success(answers.contains(true) && answers.contains(false))
  }
}

/// An entity of a real store with its objects, and the predicates made of them.
private struct AskedEntity {
  private let entity: NSEntityDescription
  private let rows: [NSManagedObject]
  private var random = SeededRandom(seed: 1)

  init(_ entity: NSEntityDescription, _ rows: [NSManagedObject]) {
    self.entity = entity
    self.rows = rows
  }

  /// A choice among all, the same in every run.
  mutating func predicates(atMost count: Int) -> [PredicateNode] {
    var all: [PredicateNode] = []
    for (name, attribute) in entity.attributesByName.sorted(by: { $0.key < $1.key })
    where !attribute.isTransient {
      all += predicates(.keyPath(name), attribute, values(name, of: rows))
    }
    for (name, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key })
    where !relationship.isTransient {
      all += relationship.isToMany ? toMany(name, relationship) : toOne(name, relationship)
    }
    return Array(all.shuffled(using: &random).prefix(count))
  }

  /// A few present values, and nil.
  private mutating func values(_ name: String, of objects: [NSManagedObject]) -> [PredicateValue] {
    var values: [PredicateValue] = []
    for object in objects.shuffled(using: &random).prefix(20) {
      let value = PredicateValue(normalizing: try? object.readValue(forKey: name))
      if !value.isNull, !values.contains(value) { values.append(value) }
      if values.count == 3 { break }
    }
    return values
  }

  private func compare(
    _ left: ExpressionNode, _ comparison: ComparisonOperator, _ right: PredicateValue,
    _ options: ComparisonOptions = [], _ modifier: ComparisonModifier = .direct
  ) -> PredicateNode {
    .comparison(
      ComparisonNode(
        left: left, right: .constant(right), modifier: modifier, comparison: comparison, options: options))
  }

  private func predicates(
    _ key: ExpressionNode, _ attribute: NSAttributeDescription, _ values: [PredicateValue]
  ) -> [PredicateNode] {
    var result: [PredicateNode] = [compare(key, .equalTo, .null), compare(key, .notEqualTo, .null)]
    // A store has what a transformer made, or a file beside it, not the value.
    if attribute.attributeType == .transformableAttributeType || attribute.allowsExternalBinaryDataStorage {
      return result
    }
    for value in values {
      result += [
        compare(key, .equalTo, value), compare(key, .notEqualTo, value),
        .compound(.not, [compare(key, .equalTo, value)]), compare(key, .in, .array([value, .null])),
      ]
      switch value {
      case .string(let text): result += predicates(key, text)
      case .integer, .double, .decimal:
        result += orders(key, value)
        result.append(
          compare(
            .function(target: nil, name: "add:to:", arguments: [key, .constant(.integer(1))]), .greaterThan,
            value))
        result.append(compare(.function(target: nil, name: "abs:", arguments: [key]), .equalTo, value))
      case .date: result += orders(key, value)
      default: break
      }
    }
    if values.count > 1 { result.append(compare(key, .in, .set(Set(values)))) }
    return result
  }

  private func orders(_ key: ExpressionNode, _ value: PredicateValue) -> [PredicateNode] {
    [
      compare(key, .lessThan, value), compare(key, .lessThanOrEqualTo, value),
      compare(key, .greaterThan, value),
      compare(key, .greaterThanOrEqualTo, value), compare(key, .between, .array([value, value])),
    ]
  }

  private func predicates(_ key: ExpressionNode, _ text: String) -> [PredicateNode] {
    let start: PredicateValue = .string(String(text.prefix(3)))
    let middle: PredicateValue = .string(String(text.dropFirst(1).prefix(2)))
    let length: ExpressionNode = .function(target: nil, name: "length:", arguments: [key])
    return orders(key, .string(text)) + [
      compare(key, .beginsWith, start), compare(key, .beginsWith, start, .caseInsensitive),
      compare(key, .contains, middle),
      compare(key, .contains, middle, [.caseInsensitive, .diacriticInsensitive]),
      compare(key, .endsWith, .string(String(text.suffix(2)))),
      compare(key, .equalTo, .string(text.uppercased()), .caseInsensitive),
      compare(key, .like, .string("?\(String(text.dropFirst().prefix(4)))*"), .caseInsensitive),
      compare(key, .matches, .string(NSRegularExpression.escapedPattern(for: String(text.prefix(4))) + ".*")),
      compare(length, .greaterThan, .integer(Int64(text.utf16.count) - 1)),
      compare(
        .function(target: nil, name: "lowercase:", arguments: [key]), .equalTo, .string(text.lowercased())),
    ]
  }

  // MARK: Relationships

  private mutating func toOne(_ name: String, _ relationship: NSRelationshipDescription) -> [PredicateNode] {
    let key: ExpressionNode = .keyPath(name)
    let targets: [NSManagedObject] = rows.compactMap { $0.value(forKey: name) as? NSManagedObject }
    var result: [PredicateNode] = [compare(key, .equalTo, .null), compare(key, .notEqualTo, .null)]
    for target in targets.shuffled(using: &random).prefix(2) {
      let object: PredicateValue = .object(ObjectBox(target))
      result += [
        compare(key, .equalTo, object), compare(key, .notEqualTo, object),
        compare(key, .in, .array([object, .null])),
      ]
    }
    for (attribute, values) in attributes(of: relationship.destinationEntity, targets) {
      result += predicates(.keyPath("\(name).\(attribute.name)"), attribute, values)
    }
    return result
  }

  private mutating func toMany(_ name: String, _ relationship: NSRelationshipDescription) -> [PredicateNode] {
    let key: ExpressionNode = .keyPath(name)
    let members: [NSManagedObject] = rows.prefix(200).flatMap { row -> [NSManagedObject] in
      switch row.value(forKey: name) {
      case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
      case let set as NSSet:
        set.allObjects.compactMap { $0 as? NSManagedObject }.sorted { "\($0.objectID)" < "\($1.objectID)" }
      default: []
      }
    }
    var result: [PredicateNode] = [0, 1, 2].map {
      compare(.keyPath("\(name).@count"), .greaterThan, .integer($0))
    }
    for member in members.shuffled(using: &random).prefix(2) {
      let object: PredicateValue = .object(ObjectBox(member))
      result += [
        compare(key, .equalTo, object, [], .any), compare(key, .contains, object),
        compare(key, .in, .array([object]), [], .all),
      ]
    }
    for (attribute, values) in attributes(of: relationship.destinationEntity, members) {
      let path: ExpressionNode = .keyPath("\(name).\(attribute.name)")
      for value in values {
        let inner: PredicateNode = compare(.path(.variable("x"), attribute.name), .equalTo, value)
        let count: ExpressionNode = .path(
          .subquery(collection: key, variable: "x", predicate: inner), "@count")
        result += [
          compare(path, .equalTo, value, [], .any), compare(path, .notEqualTo, value, [], .all),
          compare(count, .greaterThan, .integer(0)),
        ]
        if value.isNumber {
          result.append(compare(.keyPath("\(name).@max.\(attribute.name)"), .greaterThanOrEqualTo, value))
        }
      }
    }
    return result
  }

  /// A few comparable attributes of related objects, with values.
  private mutating func attributes(
    of entity: NSEntityDescription?, _ objects: [NSManagedObject]
  ) -> [(NSAttributeDescription, [PredicateValue])] {
    let fitting: [NSAttributeDescription] =
      (entity?.attributesByName.values.sorted { $0.name < $1.name } ?? []).filter {
        !$0.isTransient && $0.attributeType != .transformableAttributeType
          && !$0.allowsExternalBinaryDataStorage
      }
    return fitting.shuffled(using: &random).prefix(3).map { ($0, values($0.name, of: objects)) }
  }
}
