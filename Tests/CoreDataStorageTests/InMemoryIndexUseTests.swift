import CoreDataModel
import CoreDataPredicates
import Foundation
import Testing

@testable import CoreDataStorage

/// Which conditions are answered from an index of the in-memory store, and which by a scan.
@Suite struct InMemoryIndexUseTests {
  /// Owner ←many→ Item ← Special.
  private static let layout = ModelLayout(
    model: makeModel([
      ModelEntity("Owner"),
      ModelEntity("Item", [("name", .stringAttributeType)], children: [ModelEntity("Special")]),
    ]) { entities in
      guard let owner = entities["Owner"], let item = entities["Item"] else { return }
      let items = addRelationship("items", from: owner, to: item, toMany: true)
      let inverse = addRelationship("owner", from: item, to: owner, toMany: false)
      (items.inverseRelationship, inverse.inverseRelationship) = (inverse, items)
      _ = addRelationship("oneWay", from: item, to: owner, toMany: false)
    })

  /// Owners 1 and 2 with the items 1, 3 and 2; item 4 has none.
  private static func state() throws -> InMemoryState {
    let engine = try InMemoryEngine(layout: layout)
    let owner: EntityLayout = layout.entity("Owner")
    let item: EntityLayout = layout.entity("Item")
    let owners = RowSlab(layout: owner, family: true, rowCapacity: 2)
    for key in 1...2 as ClosedRange<Int64> {
      _ = owners.appendRow(key: key, entity: owner.index, version: 1)
    }
    let items = RowSlab(layout: item, family: true, rowCapacity: 4)
    guard case .stored(.toOne, let word) = item.slot(named: "owner")?.role else {
      Issue.record("There is no to-one.")
      return try engine.snapshot()
    }
    for (key, target) in [(1, 1), (2, 2), (3, 1), (4, nil)] as [(Int64, Int64?)] {
      let row = items.appendRow(key: key, entity: item.index, version: 1)
      if let target { items.set(row, word: word, toTarget: RowID(entity: owner.index, key: target)) }
    }
    var plan = SavePlan()
    plan.inserts = [(owner, RowBatch(slabs: [owners])), (item, RowBatch(slabs: [items]))]
    _ = try engine.save(plan)
    return try engine.snapshot()
  }

  private static func object(_ entity: String, _ key: Int64?) -> ExpressionNode {
    .constant(
      .object(ObjectBox(ObjectReference(id: key.map { RowID(entity: layout.entity(entity).index, key: $0) })))
    )
  }

  private static func comparison(
    _ left: ExpressionNode, _ comparison: ComparisonOperator, _ right: ExpressionNode,
    _ modifier: ComparisonModifier = .direct
  ) -> PredicateNode {
    .comparison(ComparisonNode(left: left, right: right, modifier: modifier, comparison: comparison))
  }

  private static let owner1: ExpressionNode = object("Owner", 1)
  private static let ofOwner1: PredicateNode = comparison(.keyPath("owner"), .equalTo, owner1)
  private static let named: PredicateNode = comparison(
    .keyPath("name"), .equalTo, .constant(.string("a")))

  private static let cases: [(String, PredicateNode?, [Int64]?)] = [
    ("no condition", nil, nil),
    ("owner == 1", ofOwner1, [1, 3]),
    ("1 == owner", comparison(owner1, .equalTo, .keyPath("owner")), [1, 3]),
    (
      "owner IN {2, 1}", comparison(.keyPath("owner"), .in, .aggregate([object("Owner", 2), owner1])),
      [1, 2, 3]
    ),
    ("owner == an unsaved one", comparison(.keyPath("owner"), .equalTo, object("Owner", nil)), []),
    ("owner == none", comparison(.keyPath("owner"), .equalTo, .constant(.null)), nil),
    ("owner != 1", comparison(.keyPath("owner"), .notEqualTo, owner1), nil),
    ("oneWay == 1", comparison(.keyPath("oneWay"), .equalTo, owner1), nil),
    ("SELF == item 2", comparison(.evaluatedObject, .equalTo, object("Item", 2)), [2]),
    ("objectID IN {4}", comparison(.keyPath("objectID"), .in, .aggregate([object("Item", 4)])), [4]),
    ("ANY owner == 1", comparison(.keyPath("owner"), .equalTo, owner1, .any), nil),
    ("name == a", named, nil),
    ("name == a AND owner == 1", .compound(.and, [named, ofOwner1]), [1, 3]),
    ("name == a OR owner == 1", .compound(.or, [named, ofOwner1]), nil),
    ("NOT owner == 1", .compound(.not, [ofOwner1]), nil),
  ]

  @Test(arguments: cases.indices)
  func `conditions on owners and rows are answered from an index`(place: Int) throws {
    let (text, predicate, keys): (String, PredicateNode?, [Int64]?) = Self.cases[place]
    let plan = FetchPlan(entity: Self.layout.entity("Item"), predicate: predicate)
    #expect(try InMemoryIndexUse(plan, Self.state()).keys() == keys, "\(text)")
  }
}

extension ModelLayout {
  fileprivate func entity(_ name: String) -> EntityLayout {
    entities.first { $0.name == name } ?? entities[0]
  }
}
