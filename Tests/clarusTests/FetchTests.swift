import Foundation
import Testing

@Suite struct FetchTests {
  private func fetch(_ arguments: [String]) throws -> (output: String, errors: String, status: Int32) {
    let store = try ShopStore()
    defer { store.remove() }
    let before = try FolderState(store.folder)
    let result = try store.run(["fetch", "STORE"] + arguments)
    #expect(try FolderState(store.folder) == before, "reading leaves no trace")
    return result
  }

  @Test func `a table aligns wide characters and escapes control characters`() throws {
    let run = try fetch([
      "Item", "--columns", "title,priority,isDone,due,category,tags", "--sort", "priority",
    ])
    #expect(run.status == 0)
    #expect(run.errors == "")
    #expect(
      run.output == """
        title                   priority  isDone  due                      category     tags
        ──────────────────────  ────────  ──────  ───────────────────────  ───────────  ────
        line\\nbreak \\u{1b}[31m                                                             0
        Apple, "red"                   3  yes     2026-05-09T06:13:20.25Z  Category/p1     2
        日本梨                        12  no                               Category/p1     0
        3 rows

        """)
  }

  @Test func `CSV quotes what must be quoted and keeps text as it is`() throws {
    let run = try fetch([
      "Item", "--columns", "objectID,title,price,due,isDone", "--sort", "priority", "--format", "csv",
    ])
    #expect(run.status == 0)
    #expect(
      run.output == """
        objectID,title,price,due,isDone\r
        x-coredata://UUID/Item/p3,"line\nbreak \u{1B}[31m",,,\r
        x-coredata://UUID/Item/p1,"Apple, ""red\""",1.5,2026-05-09T06:13:20.250000Z,true\r
        x-coredata://UUID/Item/p2,日本梨,2,,false\r

        """)
  }

  @Test func `JSON has every stored value of every type`() throws {
    let run = try fetch(["Everything", "--json"])
    #expect(run.status == 0)
    #expect(
      run.output == """
        [
          {"objectID": "x-coredata://UUID/Everything/p1", "bool": true, "data": "AQL/", "date": "2000-12-31T23:59:59.000000Z", \
        "decimal": 12.5, "double": 0.1, "float": 0.1, "int16": -5, "int32": 70000, "int64": 9223372036854775807, \
        "string": "x", "uri": "https://example.org/a", "uuid": "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
          {"objectID": "x-coredata://UUID/Everything/p2", "bool": null, "data": null, "date": null, \
        "decimal": "12345678901234567.89", "double": "Infinity", "float": null, "int16": null, "int32": null, \
        "int64": null, "string": null, "uri": null, "uuid": null}
        ]

        """)
    #expect(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) is [[String: Any]])
  }

  @Test func `a row of a sub-entity shows its own properties in JSON`() throws {
    let run = try fetch(["Animal", "--json", "--sort", "name"])
    #expect(
      run.output == """
        [
          {"objectID": "x-coredata://UUID/HouseCat/p2", "name": "Kit", "owner": null, "lives": 7, "sofa": "red"},
          {"objectID": "x-coredata://UUID/Cat/p1", "name": "Tom", "owner": null, "lives": 9}
        ]

        """)
  }

  @Test func `columns may name properties of sub-entities`() throws {
    let run = try fetch(["Animal", "--columns", "name,sofa", "--sort", "name", "--format", "csv"])
    #expect(run.output == "name,sofa\r\nKit,red\r\nTom,\r\n")
  }

  @Test(arguments: [
    (["--where", "price > 1.6"], "日本梨\r\n"),
    (["--where", "category.name == 'fruit'", "--sort", "price:desc"], "日本梨\r\n\"Apple, \"\"red\"\"\"\r\n"),
    (["--where", "ANY tags.label == 'b'"], "\"Apple, \"\"red\"\"\"\r\n"),
    (["--where", "SUBQUERY(tags, $t, ANY $t.label == 'b').@count > 0"], "\"Apple, \"\"red\"\"\"\r\n"),
    (["--where", "SUBQUERY(tags, $t, NONE $t.label == 'b').@count > 0"], "\"Apple, \"\"red\"\"\"\r\n"),
    (["--where", "SUBQUERY(tags, $t, ANY $t.label == 'c').@count > 0"], ""),
    (["--where", "title BEGINSWITH[c] 'apple'"], "\"Apple, \"\"red\"\"\"\r\n"),
    (["--sort", "priority:desc", "--limit", "1"], "日本梨\r\n"),
    (["--sort", "priority", "--offset", "2"], "日本梨\r\n"),
    (["--where", "FALSEPREDICATE"], ""), (["--where", "-price < -1.6"], "日本梨\r\n"),
  ])
  func `predicate, order, limit and offset choose the rows`(options: [String], expected: String) throws {
    let run = try fetch(["Item", "--columns", "title", "--format", "csv"] + options)
    #expect(run.errors == "")
    #expect(run.output == "title\r\n" + expected)
  }

  @Test func `a line on standard error says that two kinds of values are never equal`() throws {
    let run = try fetch(["Item", "--json", "--where", "title == 1"])
    #expect(run.status == 0)
    #expect(run.output == "[]\n")
    #expect(run.errors.hasPrefix("clarus: --where: title == 1: a string never equals a number."))
  }

  // Finding D.
  @Test(arguments: [
    ("priority == '1'", "priority (a number) can't be compared with a text. Write 1 without quotation marks"),
    ("due == 'x'", "--where: \"x\" is compared with due, a date, but is none."),
  ])
  func `a text for a value of another kind is a failure`(predicate: String, expected: String) throws {
    let run = try fetch(["Item", "--json", "--where", predicate])
    #expect(run.status == 1)
    #expect(run.output == "")
    #expect(run.errors.contains(expected), "\(run.errors)")
  }

  @Test func `no rows are an empty array, or a heading`() throws {
    #expect(try fetch(["Item", "--json", "--where", "priority == 99"]).output == "[]\n")
    let table = try fetch(["Tag", "--columns", "label", "--where", "label == 'z'"])
    #expect(table.output == "label\n─────\n0 rows\n")
  }

  @Test func `the statement comes before a table, and on standard error otherwise`() throws {
    let table = try fetch(["Item", "--columns", "title", "--where", "priority > 1", "--sql"])
    #expect(table.output.hasPrefix("SELECT "))
    #expect(table.output.contains("ZITEM"))
    #expect(table.output.contains("values: 1\n"))
    #expect(table.output.contains("\nplan: "))
    #expect(table.errors == "")
    let json = try fetch(["Item", "--json", "--where", "priority > 1", "--sql"])
    #expect(json.output.hasPrefix("["))
    #expect(json.errors.hasPrefix("SELECT "))
  }

  @Test func `a reader that goes away is no error`() throws {
    let store = try ShopStore()
    defer { store.remove() }
    let line: String = "set -o pipefail; \"$CLARUS\" fetch '\(store.path)' Item --json | head -c 1"
    let run = try CommandLineRun(shell: line)
    #expect(run.status == 0)
    #expect(run.output == "[")
    #expect(run.errors == "")
  }
}
