import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation
import TestSupport
import Testing

@testable import CoreDataSQLite

/// Fetch indexes of every form: written to a new store, and used by fetches.
@Suite struct IndexUseTests {
  private static func layout() throws -> ModelLayout {
    let item: NSEntityDescription = entity("Item")
    let book: NSEntityDescription = entity("Book")
    let (price, amount) = (
      attribute("price", .doubleAttributeType), attribute("amount", .doubleAttributeType)
    )
    let (label, date) = (attribute("label", .stringAttributeType), attribute("date", .dateAttributeType))
    item.properties = [price, amount, label, date, attribute("count", .integer32AttributeType)]
    item.subentities = [book]
    func computed(_ format: String) throws -> NSExpressionDescription {
      let made = NSExpressionDescription()
      made.name = "expression"
      made.expression = try CoreDataPredicates.NSExpression(parsing: format)
      return made
    }
    func index(_ name: String, _ property: NSPropertyDescription, isAscending: Bool = true)
      -> NSFetchIndexDescription
    {
      let element = NSFetchIndexElementDescription(property: property, collationType: .binary)
      element.isAscending = isAscending
      return NSFetchIndexDescription(name: name, elements: [element])
    }
    let labelled: NSFetchIndexDescription = index("labelled", label)
    labelled.partialIndexPredicate = NSPredicate(format: "label != nil")
    item.indexes = [
      index("byTotal", try computed("price * amount")), index("recent", date, isAscending: false), labelled,
      index("folded", try computed("lowercase:(label)")), index("shifted", try computed("count + 1")),
    ]
    let model = NSManagedObjectModel()
    model.entities = [item, book]
    return ModelLayout(model: model)
  }

  private func definition(_ engine: SQLiteEngine, _ index: String) throws -> String? {
    try engine.read { database in
      let statement = try RawStatement(
        database, "SELECT sql FROM sqlite_master WHERE name = ?", url: engine.url)
      defer { statement.reset() }
      try statement.bind(1, index)
      return try statement.step() ? statement.text(0) : nil
    }
  }

  @Test func `computed, descending and partial indexes are written, and fetches search them`() throws {
    let folder = try TemporaryFolder()
    let engine = try SQLiteEngine.open(url: folder.file("a.sqlite"), layout: try Self.layout())
    let rows: [[String: Value]] = (0..<200).map { number in
      var row: [String: Value] = [
        "price": .real(Double(number)), "amount": .real(2), "date": .real(Double(number)),
      ]
      if number % 10 == 0 { row["label"] = .text("label \(number)") }
      return row
    }
    try engine.insert("Item", rows)
    let written: String? = try definition(engine, "Z_Item_byTotal")
    #expect(written == "CREATE INDEX Z_Item_byTotal ON ZITEM ((ZPRICE * ZAMOUNT) COLLATE BINARY ASC)")
    // What the database can't compute by itself, or a fetch binds, has no index.
    #expect(try definition(engine, "Z_Item_folded") == nil)
    #expect(try definition(engine, "Z_Item_shifted") == nil)
    func plan(_ format: String?) throws -> FetchPlan {
      var plan = FetchPlan(entity: engine.entity("Item"))
      plan.predicate = try format.map { try NSPredicate(parsing: $0).predicateNode() }
      return plan
    }
    var newest: FetchPlan = try plan(nil)
    newest.order = [FetchOrder(keyPath: "date", ascending: false)]
    newest.limit = 3
    let cases: [(FetchPlan, index: String, count: Int)] = [
      (try plan("price * amount > 390"), "Z_Item_byTotal", 4),
      (try plan("price * amount == 20"), "Z_Item_byTotal", 1),
      (newest, "Z_Item_recent", 3), (try plan("label == 'label 20'"), "Z_Item_labelled", 1),
    ]
    for (plan, index, count) in cases {
      let explained: ExplainedStatement = try #require(try engine.explain(plan))
      #expect(explained.queryPlan.contains { $0.contains("INDEX \(index)") }, "\(explained)")
      #expect(try engine.fetch(plan).count == count, "\(explained.sql)")
    }
  }
}
