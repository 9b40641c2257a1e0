import Foundation
import Testing

@Suite struct EntityInfoTests {
  @Test func `counts alone are a short table and stable JSON`() throws {
    let store = try ShopStore()
    defer { store.remove() }
    let run = try store.run(["info", "STORE", "--counts"])
    #expect(run.output.hasPrefix("Entity      Rows\n──────────  ────\nAlbum          0\n"))
    #expect(run.output.contains("\nItem           3\n"))
    let json = try CommandLineRun(["info", store.path, "--counts", "--json"])
    let entities = try #require((try json.json() as? [String: Any])?["entities"] as? [[String: Any]])
    #expect(entities.count == 13)
    #expect(entities.allSatisfy { Set($0.keys) == ["name", "count"] })
  }

  @Test func `one entity shows where its properties are kept and what is in them`() throws {
    let store = try ShopStore()
    defer { store.remove() }
    let before = try FolderState(store.folder)
    let run = try store.run(["info", "STORE", "--entity", "Item"])
    #expect(run.errors == "")
    #expect(run.output.hasPrefix("Item (3 rows)\n"))
    let table: String = """
        Property  Table    Columns             Values  Sample
        ────────  ───────  ──────────────────  ──────  ───────────────────────
        category  ZITEM    ZCATEGORY                2  Category/p1
        due       ZITEM    ZDUE                     1  2026-05-09T06:13:20.25Z
        isDone    ZITEM    ZISDONE                  2  yes
        price     ZITEM    ZPRICE                   2  1.5
        priority  ZITEM    ZPRIORITY                2  3
        tags      Z_8TAGS  Z_8ITEMS, Z_12TAGS
        title     ZITEM    ZTITLE                   3  Apple, "red"

      """
    #expect(run.output.hasSuffix("\n\n" + table))
    let json = try CommandLineRun(["info", store.path, "--entity", "Animal", "--json"])
    let root = try #require(try json.json() as? [String: Any])
    #expect(root["count"] as? Int == 0 && root["countWithSubentities"] as? Int == 2)
    let properties = try #require(root["properties"] as? [[String: Any]])
    #expect(properties.map { $0["name"] as? String } == ["name", "owner"])
    #expect(root["attributes"] is [Any] && root["versionHash"] is String)
    #expect(try FolderState(store.folder) == before)
  }
}
