import CoreData
import CoreDataPredicates
import Foundation
import StackSupport
import Testing

struct SwiftPredicateTests {
  private static func workers(_ context: NSManagedObjectContext) throws -> [Worker] {
    try context.all(Worker.self, "Worker", sort: ["points"])
  }

  private static func fetch(
    _ context: NSManagedObjectContext, _ predicate: NSPredicate
  ) throws -> [String] {
    let request = NSFetchRequest<Worker>(entityName: "Worker")
    request.predicate = predicate
    request.sortDescriptors = [NSSortDescriptor(keyPath: \Worker.points, ascending: true)]
    return try context.fetch(request).map(\.name)
  }

  @Test func `a Swift predicate over managed objects becomes the format of the table`() throws {
    try TeamModel.stack(.inMemory).run { context in
      for row in try SwiftPredicateTable(context).rows {
        let converted = try NSPredicate(converting: row.predicate)
        #expect(try converted == NSPredicate(parsing: row.format, arguments: row.arguments), "\(row.swift)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a fetch and an evaluation answer as the Swift predicate does`(_ kind: StoreKind) throws {
    try TeamModel.stack(kind).run { context in
      let workers: [Worker] = try Self.workers(context)
      for row in try SwiftPredicateTable(context).rows {
        let converted = try NSPredicate(converting: row.predicate)
        // Swift throws where it unwraps nil; a predicate doesn't hold.
        let wanted: [String] = workers.filter { (try? row.predicate.evaluate($0)) ?? false }.map(\.name)
        let evaluated: [String] = try workers.filter { try converted.evaluateThrowing(with: $0) }.map(\.name)
        #expect(evaluated == wanted, "\(row.swift)")
        #expect(try Self.fetch(context, converted) == wanted, "\(row.swift)")
      }
    }
  }

  @Test func `no row of the table is true or false for all`() throws {
    try TeamModel.stack(.inMemory).run { context in
      let workers: [Worker] = try Self.workers(context)
      let trivial: Set<String> = [
        "$0.name.contains(empty)", "if let most { worker.age < most } else { true }",
        #"$0.labels!.max() == "first""#,
      ]
      for row in try SwiftPredicateTable(context).rows where !trivial.contains(row.swift) {
        let count: Int = workers.count { (try? row.predicate.evaluate($0)) ?? false }
        #expect((1..<workers.count).contains(count), "\(row.swift): \(count)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a request made of a Swift predicate and Swift sort descriptors fetches what they say`(
    _ kind: StoreKind
  )
    throws
  {
    try TeamModel.stack(kind).run { context in
      let grown = try NSFetchRequest(
        predicate: #Predicate<Worker> { $0.age > 0 }, sortBy: [SortDescriptor(\.age, order: .reverse)])
      let workers: [Worker] = try Self.workers(context)
      let wanted: [Int16] = workers.map(\.age).filter { $0 > 0 }.sorted(by: >)
      let found: [Int16] = try context.fetch(grown).map(\.age)
      #expect(found == wanted && !found.isEmpty)
      let all: NSFetchRequest<Chief> = try NSFetchRequest(predicate: nil)
      let chiefs: [Chief] = try context.fetch(all)
      #expect(chiefs.count == workers.count { $0 is Chief } && !chiefs.isEmpty)
    }
  }

  private final class Stranger: NSManagedObject {}

  @Test func `a request for a class without entity is refused`() {
    let error = errorThrown { _ = try NSFetchRequest(predicate: #Predicate<Stranger> { _ in true }) }
    #expect(error?.localizedDescription.contains("No entity found for class Stranger") == true)
  }

  @Test func `the page about Swift predicates has the rows of the table`() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Documentation/swift-predicates.md").standardized
    let page: Substring? = try String(contentsOf: file, encoding: .utf8).split(separator: "<!-- table -->\n")
      .last
    try TeamModel.stack(.inMemory).run { context in
      let wanted: String = try SwiftPredicateTable(context).sections.map { section in
        "\n### \(section.title)\n\n| Swift | format |\n|---|---|\n"
          + section.rows.map { $0.line + "\n" }.joined()
      }.joined()
      if page.map(String.init) != wanted { print(wanted) }
      #expect(page.map(String.init) == wanted, "Put the text printed above behind the mark in the page.")
    }
  }
}
