import CoreDataStorage
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Rows by id, key paths as columns, members, dates and ids in predicates. (Finding D, command line.)
@Suite struct FetchChoiceTests {
  private func csv(_ arguments: [String]) throws -> [String] {
    let store = try ShopStore()
    defer { store.remove() }
    let before = try FolderState(store.folder)
    let arguments: [String] = arguments.map { $0.replacingOccurrences(of: "UUID", with: store.uuid) }
    let run = try store.run(["fetch", "STORE"] + arguments + ["--format", "csv"])
    #expect(run.errors == "")
    #expect(run.status == 0)
    #expect(try FolderState(store.folder) == before, "reading leaves no trace")
    return run.output.replacingOccurrences(of: "\r\n", with: "\n").split(separator: "\n").map(String.init)
  }

  @Test(arguments: ["2", "p2", "Item/p2", "x-coredata://UUID/Item/p2"])
  func `a row is found by its id in every form that is printed`(id: String) throws {
    #expect(try csv(["Item", "--columns", "title", "--id", id]) == ["title", "日本梨"])
    #expect(try csv(["Item", "--columns", "title", "--where", "SELF == '\(id)'"]) == ["title", "日本梨"])
    #expect(try csv(["Item", "--columns", "title", "--where", "objectID == '\(id)'"]) == ["title", "日本梨"])
  }

  @Test func `every id that is printed finds its row again`() throws {
    let store = try ShopStore()
    defer { store.remove() }
    for entity in ["Item", "Category", "Tag", "Animal", "Everything"] {
      let all = try CommandLineRun(["fetch", store.path, entity, "--json"])
      let rows = try #require(try all.json() as? [[String: Any]])
      #expect(rows.count >= 2)
      for row in rows {
        let id = try #require(row["objectID"] as? String)
        let one = try CommandLineRun(["fetch", store.path, entity, "--json", "--id", id])
        #expect((try one.json() as? [[String: Any]])?.map { $0["objectID"] as? String } == [id])
      }
    }
  }

  @Test func `ids and a predicate choose together, and an id of the superentity's is one of the subentity's`()
    throws
  {
    let ids: [String] = ["--id", "1", "--id", "2", "--where", "price > 1.6"]
    #expect(try csv(["Item", "--columns", "objectID"] + ids).count == 2)
    #expect(try csv(["Cat", "--columns", "name", "--id", "Animal/p2"]) == ["name", "Kit"])
  }

  @Test(arguments: [
    ("SELF IN {'Item/p1', 'p3'}", 2), ("category == 'Category/p1'", 2), ("'p1' == category", 2),
    ("category != 'Category/p1'", 1), ("category IN {'p1', 'p2'}", 2), ("ANY tags == 'Tag/p2'", 1),
    ("tags CONTAINS 'Tag/p1'", 1), ("'Tag/p1' IN tags", 1), ("category.objectID == 'p1'", 2),
    ("NOT (SELF == 'p1' OR SELF == 'p2')", 1), ("title == 'p1'", 0), ("category == 'p77'", 0),
    // Days and moments as text, in UTC; Item 1 is due on 9 May 2026 at 6:13.
    ("due < '2026-05-10'", 1), ("due > '2026-05-10'", 0), ("due >= '2026-05-09 06:13:20.25'", 1),
    ("due > '2026-05-09T08:13:21+02:00'", 0), ("due < '2026-05-09T08:13:21+02:00'", 1),
    ("due BETWEEN {'2026-05-09', '2026-05-10'}", 1), ("CAST('2026-05-10T00:00:00Z', 'NSDate') > due", 1),
  ])
  func `objects compare with ids and dates with text`(predicate: String, count: Int) throws {
    #expect(try csv(["Item", "--columns", "objectID", "--where", predicate]).count == count + 1)
  }

  @Test(arguments: [
    (["title", "category.name", "tags"], "Apple, \"red\"|fruit|2"),
    (["category.items.@count", "tags.@max.label"], "2|b"), (["category.objectID"], "Category/p1"),
    (
      ["category.items.@sum.price", "category.items.@avg.price", "category.items.@min.price"], "3.5|1.75|1.5"
    ),
  ])
  func `columns are key paths`(columns: [String], expected: String) throws {
    let store = try ShopStore()
    defer { store.remove() }
    let run = try store.run([
      "fetch", "STORE", "Item", "--id", "1", "--columns", columns.joined(separator: ","),
    ])
    #expect(run.errors == "")
    let lines: [Substring] = run.output.split(separator: "\n")
    #expect(lines.count == 4)
    let cells: [String] = lines[2].split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(cells.joined(separator: "|") == expected)
  }

  @Test func `members are listed by their ids`() throws {
    #expect(
      try csv(["Item", "--columns", "title,tags,category.items", "--members", "--id", "1"])[1]
        == "\"Apple, \"\"red\"\"\",x-coredata://UUID/Tag/p1 x-coredata://UUID/Tag/p2,"
        + "x-coredata://UUID/Item/p1 x-coredata://UUID/Item/p2")
    let store = try ShopStore()
    defer { store.remove() }
    let run = try CommandLineRun(["fetch", store.path, "Category", "--members", "--json"])
    let rows = try #require(try run.json() as? [[String: Any]])
    #expect((rows[0]["items"] as? [String])?.count == 2)
    #expect((rows[1]["items"] as? [String])?.count == 0)
    let table = try CommandLineRun(["fetch", store.path, "Tag", "--members"])
    #expect(table.output.contains("Item/p1"))
  }

  @Test(arguments: [
    (
      ["--group-by", "category.name", "--count", "--sum", "price"],
      ["category.name,count,sum(price)", ",1,0", "fruit,2,3.5"]
    ),
    (
      ["--group-by", "category.name", "--count", "--sort", "count:desc", "--limit", "1"],
      ["category.name,count", "fruit,2"]
    ), (["--count"], ["count", "3"]), (["--count", "--where", "FALSEPREDICATE"], ["count", "0"]),
    (
      ["--min", "due,price", "--max", "title"],
      ["min(due),min(price),max(title)", "2026-05-09T06:13:20.250000Z,1.5,日本梨"]
    ),
    (
      ["--group-by", "category.name", "--count", "--having", "count > 1"],
      ["category.name,count", "fruit,2"]
    ),
    (
      [
        "--group-by", "category.name", "--having",
        "avg(price) BETWEEN {1, 2} AND category.name BEGINSWITH 'f'",
      ],
      ["category.name", "fruit"]
    ),
    (
      ["--group-by", "category", "--count", "--having", "category == 'p1'"],
      ["category,count", "x-coredata://UUID/Category/p1,2"]
    ),
    (["--group-by", "category", "--having", "count == 1 AND category == nil"], ["category", ""]),
    (
      ["--group-by", "isDone", "--having", "max(due) > '2026-01-01' AND max(due) < '2026-05-10'"],
      ["isDone", "true"]
    ),
    (["--group-by", "isDone", "--having", "count(price) == 1 AND NOT isDone == YES"], ["isDone", "false"]),
    (["--group-by", "isDone", "--having", "max(due) > now + 9y"], ["isDone"]),
    (["--avg", "price", "--avg", "priority"], ["avg(price),avg(priority)", "1.75,7.5"]),
    (["--group-by", "category", "--count"], ["category,count", ",1", "x-coredata://UUID/Category/p1,2"]),
    (
      ["--group-by", "isDone", "--max", "priority", "--sort", "max(priority):desc"],
      ["isDone,max(priority)", "false,12", "true,3", ","]
    ),
    (
      ["--distinct", "--columns", "category.name", "--sort", "category.name:desc"],
      ["category.name", "fruit", ""]
    ),
  ])
  func `groups, functions and distinct values`(options: [String], expected: [String]) throws {
    let store = try ShopStore()
    defer { store.remove() }
    let run = try store.run(["fetch", "STORE", "Item", "--format", "csv"] + options)
    #expect(run.errors == "")
    #expect(run.output == expected.map { $0 + "\r\n" }.joined())
    let json = try CommandLineRun(["fetch", store.path, "Item", "--json", "--sql"] + options)
    let rows = try #require(try json.json() as? [[String: Any]])
    #expect(rows.count == expected.count - 1)
    #expect(rows.allSatisfy { Set($0.keys) == Set(expected[0].split(separator: ",").map(String.init)) })
    #expect(json.errors.hasPrefix("SELECT "))
  }

  @Test(arguments: [
    ("due > NOW() - 7d", [1, 2]), ("due > now - 1w", [1, 2]), ("due > NOW () - 2 h", [1, 2]),
    ("due > now - 30min", [2]), ("due < now - 3mon - 1y", []), ("due < now - 2mon", [3]),
    ("due > TODAY() + 1d", [2]), ("due BETWEEN {now - 2h, now + 10y}", [1, 2]),
    ("due > today - 40d", [1, 2]),
    ("due > NOW()", [2]), ("title == 'now - 7d'", [3]), ("title == \"it\\\"s now - 7d\"", []),
  ])
  func `dates are relative to now`(predicate: String, expected: [Int64]) throws {
    let folder: URL = try TemporaryFolder().url
    defer { try? FileManager.default.removeItem(at: folder) }
    let url: URL = folder.appendingPathComponent("Dates.sqlite")
    let world = try ShopStore.world(url)
    // An hour ago, in a week, and a hundred days ago.
    try world.insert(
      "Item",
      [
        ["due": Date(timeIntervalSinceNow: -3600)], ["due": Date(timeIntervalSinceNow: 7 * 86_400)],
        ["due": Date(timeIntervalSinceNow: -100 * 86_400), "title": "now - 7d"],
      ])
    try world.engine.close()
    let run = try CommandLineRun([
      "fetch", url.path, "Item", "--columns", "objectID", "--json", "--where", predicate,
    ])
    #expect(run.errors == "")
    let rows = try #require(try run.json() as? [[String: String]])
    #expect(rows.map { $0["objectID"]?.split(separator: "/p").last.flatMap { Int64($0) } } == expected)
  }
}
