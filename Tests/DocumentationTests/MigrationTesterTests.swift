import CoreData
import CoreDataMigrationTesting
import Testing

@Suite struct MigrationTesterTests {
  /// Three versions of a model as Xcode keeps them.
  private func package() throws -> URL {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("clarus-tester-\(UUID().uuidString)/Shop.xcdatamodeld")
    let attributes: [String] = [
      "", #"<attribute name="note" optional="YES" attributeType="String"/>"#,
      #"<attribute name="count" attributeType="Integer 32" defaultValueString="0"/>"#,
    ]
    for number in 1...3 {
      let folder = url.appendingPathComponent("Shop\(number == 1 ? "" : " \(number)").xcdatamodel")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let text = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
          <entity name="Product" representedClassName="Product" syncable="YES">
            <attribute name="name" optional="YES" attributeType="String"/>\(attributes.prefix(number).joined())
          </entity>
        </model>
        """
      try text.write(to: folder.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
    }
    return url
  }

  @Test func `every version migrates`() throws {
    let modelURL = try package()
    defer { try? FileManager.default.removeItem(at: modelURL.deletingLastPathComponent()) }
    var tester = try MigrationTester(contentsOf: modelURL)
    let report = try tester.run()
    #expect(report.failures.isEmpty)
    let page = try String(
      contentsOfFile: #filePath.replacingOccurrences(
        of: "Tests/DocumentationTests/MigrationTesterTests.swift", with: "Documentation/migration.md"),
      encoding: .utf8)
    for step in report.steps { #expect(page.contains("    \(step)\n"), "\(step)") }
    tester.unsupported = ["Shop 4"]
    #expect(throws: MigrationTestError.self) { try tester.run() }
  }

  @Test func `a program fills and examines what only it knows`() throws {
    let modelURL = try package()
    defer { try? FileManager.default.removeItem(at: modelURL.deletingLastPathComponent()) }
    var tester = try MigrationTester(contentsOf: modelURL)
    // snippet closures
    tester.customize = { object in
      if object.entity.name == "Product" { object.setValue("P-\(UUID())", forKey: "name") }
    }
    tester.examine = { context, version in
      let products = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Product"))
      #expect(products.allSatisfy { $0.value(forKey: "name") != nil })
    }
    // end
    #expect(try tester.run().failures == [])
  }
}
