import Foundation
import TestSupport
import Testing

/// SQLite types values, not columns: a file may have a value that reads as another one.
@Suite struct MisreadValueTests {
  static let values: [(column: String, literal: String, property: String)] = [
    ("ZINT16", "70000", "int16"), ("ZINT32", "2147483648", "int32"), ("ZINT64", "1.5", "int64"),
    ("ZINT16", "'many'", "int16"), ("ZDOUBLE", "'abc'", "double"), ("ZDATE", "'2026-01-01'", "date"),
    ("ZBOOL", "'YES'", "bool"), ("ZUUID", "zeroblob(15)", "uuid"),
    ("ZDECIMAL", "'abc'", "decimal"), ("ZDECIMAL", "-1e200", "decimal"),
  ]

  @Test(arguments: values)
  func `what reads as another value stops a copy, and a repair says what it does to it`(
    column: String, literal: String, property: String
  ) throws {
    let store = try RichStore()
    defer { store.remove() }
    try makeDatabase(store.url, ["UPDATE ZEVERYTHING SET \(column) = \(literal) WHERE Z_PK = 1"])
    let before = try Data(contentsOf: store.url)
    for name in ["Out.xml", "Out.bin"] {
      let run = try CommandLineRun(["convert", store.path, store.file(name).path])
      #expect(run.status == 1)
      for word in ["Everything.\(property)", "/Everything/p1", "clarus check --repair"] {
        #expect(run.errors.contains(word), "\(name): \(run.errors)")
      }
    }
    #expect(store.names == ["Rich.sqlite"])
    let check = try CommandLineRun(["check", store.path])
    let told: Int = check.output.split(separator: "\n").count {
      $0.hasPrefix("error: Everything.\(property) ")
    }
    #expect(told == 1, "\(check.output)")
    let repair = try CommandLineRun([
      "check", store.path, "--repair", store.file("New.sqlite").path, "--json",
    ])
    #expect(repair.status == 1)
    let report = try #require(try repair.json() as? [String: Any], "\(repair.output)\(repair.errors)")
    #expect(report["complete"] as? Bool == false)
    let changes = try #require(report["changes"] as? [[String: Any]])
    #expect(changes.map { $0["property"] as? String } == [property], "\(repair.output)")
    #expect(try CommandLineRun(["check", store.file("New.sqlite").path]).status == 0)
    #expect(try Data(contentsOf: store.url) == before)
  }

  @Test func `what a column of one entity has in rows of another one of the hierarchy is no value of it`()
    throws
  {
    let store = try RichStore()
    defer { store.remove() }
    // Lives are numbers of cats.
    try makeDatabase(
      store.url,
      [
        "UPDATE ZANIMAL SET ZLIVES = 'many' WHERE Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Dog')"
      ])
    let run = try CommandLineRun(["check", store.path])
    #expect(run.status == 0, "\(run.output)")
    #expect(try CommandLineRun(["convert", store.path, store.file("Out.xml").path]).status == 0)
    try makeDatabase(store.url, ["UPDATE ZANIMAL SET ZLIVES = 'many'"])
    let other = try CommandLineRun(["check", store.path])
    #expect(other.output.contains("Cat.lives has a value that is none of its type") && other.status == 1)
    #expect(other.output.contains("HouseCat/p"), "\(other.output)")
    #expect(!other.output.contains("Dog/p"), "\(other.output)")
  }

  @Test(arguments: ["xml", "bin", "sqlite"])
  func `infinite dates come back from an export`(kind: String) throws {
    let store = try RichStore()
    defer { store.remove() }
    try makeDatabase(store.url, ["UPDATE ZEVERYTHING SET ZDATE = -9e999 WHERE Z_PK = 1"])
    let export = try CommandLineRun(["export", store.path, "--entity", "Everything"])
    #expect(export.status == 0, "\(export.errors)")
    try Data(export.output.utf8).write(to: store.file("All.json"))
    let new: String = store.file("New.\(kind)").path
    let run = try CommandLineRun([
      "import", new, store.file("All.json").path, "--create", "--model", store.path,
    ])
    #expect(run.status == 0, "\(run.errors)")
    let again = try CommandLineRun(["export", new, "--model", store.path, "--entity", "Everything"])
    #expect(again.output.contains("\"-Infinity\""), "\(again.output)\(again.errors)")
  }

  @Test func `an integer in the place of a Boolean is one`() throws {
    let store = try RichStore()
    defer { store.remove() }
    try makeDatabase(store.url, ["UPDATE ZEVERYTHING SET ZBOOL = 7 WHERE Z_PK = 1"])
    #expect(try CommandLineRun(["convert", store.path, store.file("Out.xml").path]).status == 0)
  }

  @Test func `a repair names the pairs of which one object does not exist`() throws {
    let store = try RichStore()
    defer { store.remove() }
    try makeDatabase(store.url, ["INSERT INTO Z_8TAGS VALUES (1, 99)"])
    let repair = try CommandLineRun(["check", store.path, "--repair", store.file("New.sqlite").path])
    #expect(repair.status == 1)
    #expect(
      repair.output.contains("has pairs of which one object does not exist. They were left out."),
      "\(repair.output)")
  }

  @Test(arguments: ["bin", "xml", "sqlite"])
  func `an address that is none goes through every kind of store`(kind: String) throws {
    let store = try RichStore()
    defer { store.remove() }
    try makeDatabase(
      store.url,
      [
        "UPDATE ZEVERYTHING SET ZURI = '' WHERE Z_PK = 1",
        "INSERT INTO ZEVERYTHING (Z_PK, Z_ENT, Z_OPT, ZURI) SELECT Z_PK + 100, Z_ENT, 1, 'http://a/b c' FROM ZEVERYTHING "
          + "WHERE Z_PK = 1",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 500 WHERE Z_NAME = 'Everything'",
      ])
    let there: String = store.file("There.\(kind)").path
    let back: String = store.file("Back.sqlite").path
    for arguments in [[store.path, there, "--verify"], [there, back, "--model", store.path, "--verify"]] {
      let run = try CommandLineRun(["convert"] + arguments)
      #expect(run.status == 0, "\(run.errors)\(run.output)")
    }
  }

  @Test func `an import that matches changes how a text is composed`() throws {
    let store = try RichStore()
    defer { store.remove() }
    for (text, change) in [
      ("caf\u{E9}", "updated"), ("cafe\u{301}", "updated"), ("cafe\u{301}", "unchanged"),
    ] {
      let file: URL = store.file("new.json")
      try Data(#"[{"$id": "Everything/p1", "string": "\#(text)"}]"#.utf8).write(to: file)
      let run = try CommandLineRun([
        "import", store.path, file.path, "--entity", "Everything", "--match", "id", "--json",
      ])
      #expect(run.status == 0, "\(run.errors)")
      let report = try #require(try run.json() as? [String: Any])
      let entities = try #require(report["entities"] as? [[String: Any]])
      #expect(entities.first?[change] as? Int == 1, "\(run.output)")
    }
  }
}
