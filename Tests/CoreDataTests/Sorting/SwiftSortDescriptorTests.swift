import CoreData
import CoreDataPredicates
import Foundation
import StackSupport
import Testing

struct SwiftSortDescriptorTests {
  private static func fetch(
    _ stack: Stack, _ descriptors: [NSSortDescriptor]
  ) throws -> [String] {
    try stack.elsewhere { context in
      let request = NSFetchRequest<Worker>(entityName: "Worker")
      request.sortDescriptors = descriptors
      return try context.fetch(request).map(\.name)
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let descriptors: [SortDescriptor<Worker>]
    let term: SortTerm

    init(
      _ key: String, _ ascending: Bool, _ comparison: StringComparison = .plain,
      _ descriptors: [SortDescriptor<Worker>]
    ) {
      testDescription = "\(key) \(ascending ? "up" : "down")"
      self.descriptors = descriptors
      term = SortTerm(key: key, ascending: ascending, comparison: comparison)
    }
  }

  static let rows: [Row] = [
    Row("name", true, .localizedStandard, [SortDescriptor(\.name)]),
    Row("name", false, .localizedStandard, [SortDescriptor(\.name, order: .reverse)]),
    Row("name", true, .plain, [SortDescriptor(\.name, comparator: .lexical)]),
    Row("name", true, .localized, [SortDescriptor(\.name, comparator: .localized)]),
    Row(
      "name", false, .localizedStandard,
      [SortDescriptor(\.name, comparator: .localizedStandard, order: .reverse)]),
    Row(
      "name", true, .localizedStandard,
      [SortDescriptor(\.name, comparator: String.StandardComparator.localizedStandard)]),
    Row("nick", true, .localizedStandard, [SortDescriptor(\.nick), SortDescriptor(\.points)]),
    Row(
      "nick", false, .plain, [SortDescriptor(\.nick, comparator: .lexical, order: .reverse), .init(\.points)]),
    Row("age", false, .plain, [SortDescriptor(\.age, order: .reverse)]),
    Row("pay", true, .plain, [SortDescriptor(\.pay)]),
    Row("active", true, .plain, [SortDescriptor(\.active), SortDescriptor(\.points)]),
    Row("vip", false, .plain, [SortDescriptor(\.vip, order: .reverse), SortDescriptor(\.points)]),
    Row("left", true, .plain, [SortDescriptor(\.left), SortDescriptor(\.points)]),
    Row("id", false, .plain, [SortDescriptor(\.id, order: .reverse)]),
    Row("cost", true, .plain, [SortDescriptor(\.cost), SortDescriptor(\.points)]),
    Row("boss.name", true, .localizedStandard, [SortDescriptor(\.boss?.name), SortDescriptor(\.points)]),
    Row(
      "squad.name", false, .localizedStandard,
      [SortDescriptor(\.squad?.name, order: .reverse), .init(\.points)]),
  ]

  @Test(arguments: rows) func `Swift's sort descriptors convert`(_ row: Row) throws {
    let converted: [NSSortDescriptor] = row.descriptors.map(NSSortDescriptor.init)
    #expect(converted[0].sortTerm == row.term)
    #expect(converted[0].ascending == row.term.ascending)
    #expect(converted[0].key == row.term.key)
  }

  @Test(arguments: StoreKind.allCases)
  func `fetches sort as Swift's sort descriptors do`(_ kind: StoreKind) throws {
    let stack: Stack = try TeamModel.stack(kind)
    for row in Self.rows {
      let sorted: [String] = try stack.elsewhere { context in
        try context.fetch(NSFetchRequest<Worker>(entityName: "Worker"))
          .sorted(using: row.descriptors).map(\.name)
      }
      #expect(try Self.fetch(stack, row.descriptors.map(NSSortDescriptor.init)) == sorted, "\(row)")
    }
  }

  // MARK: NSSortDescriptor by key path

  static var keyPathRows: [(NSSortDescriptor, String)] {
    [
      (NSSortDescriptor(keyPath: \Worker.name, ascending: true), "name"),
      (NSSortDescriptor(keyPath: \Worker.nick, ascending: true), "nick"),
      (NSSortDescriptor(keyPath: \Worker.left, ascending: false), "left"),
      (NSSortDescriptor(keyPath: \Worker.active, ascending: false), "active"),
      (NSSortDescriptor(keyPath: \Worker.grade, ascending: false), "gradeNumber"),
      (NSSortDescriptor(keyPath: \Worker.mood, ascending: true), "moodName"),
      (NSSortDescriptor(keyPath: \Worker.boss?.age, ascending: true), "boss.age"),
      (NSSortDescriptor(keyPath: \Worker.squad!.name, ascending: true), "squad.name"),
    ]
  }

  @Test(arguments: StoreKind.allCases)
  func `descriptors by key path sort in the store, nil first when ascending`(_ kind: StoreKind) throws {
    let stack: Stack = try TeamModel.stack(kind)
    for (descriptor, key) in Self.keyPathRows {
      #expect(descriptor.sortTerm == SortTerm(key: key, ascending: descriptor.ascending))
      let tie = NSSortDescriptor(keyPath: \Worker.points, ascending: true)
      let byKey: [NSSortDescriptor] = [NSSortDescriptor(key: key, ascending: descriptor.ascending), tie]
      #expect(try Self.fetch(stack, [descriptor, tie]) == Self.fetch(stack, byKey), "\(key)")
      if key == "squad.name" { continue }
      let inMemory: [String] = try stack.elsewhere { context in
        try context.fetch(NSFetchRequest<Worker>(entityName: "Worker"))
          .sortedThrowing(using: [descriptor, tie]).map(\.name)
      }
      #expect(try Self.fetch(stack, [descriptor, tie]) == inMemory, "\(key)")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an order that only the program knows sorts in memory`(_ kind: StoreKind) throws {
    let stack: Stack = try TeamModel.stack(kind)
    let byLength = NSSortDescriptor(keyPath: \Worker.name, ascending: false) { left, right in
      let (a, b) = ((left as? String ?? "").count, (right as? String ?? "").count)
      return a < b ? .orderedAscending : a > b ? .orderedDescending : .orderedSame
    }
    let tie = NSSortDescriptor(keyPath: \Worker.points, ascending: true)
    #expect(byLength.sortTerm == nil)
    #expect(
      try Self.fetch(stack, [byLength, tie]) == [
        "Ines\nOtto", "Kim|Lee", "Dora", "_Max", "Ann", "Bea", "Cid", "Eve", "Fay", "Zoë", "zoe", "",
      ])
    // A computed property has no name, but it can be read.
    let byTitle = NSSortDescriptor(SortDescriptor(\Worker.yearsLeft, order: .reverse))
    #expect(byTitle.sortTerm == nil)
    #expect(try Self.fetch(stack, [byTitle]).prefix(3) == ["Ann", "Bea", "Cid"])
    let reversed = try #require(byTitle.reversedSortDescriptor as? NSSortDescriptor)
    #expect(try Self.fetch(stack, [reversed]).prefix(2) == ["_Max", "Kim|Lee"])
    let plain = NSSortDescriptor(keyPath: \Worker.yearsLeft, ascending: true)
    #expect(plain.sortTerm == nil)
    #expect(try Self.fetch(stack, [plain]).prefix(2) == ["_Max", "Kim|Lee"])
  }

  @Test func `other types keep Foundation's sort descriptors`() throws {
    struct Line { var text: String }
    let lines: [Line] = ["item 10", "item 9"].map(Line.init)
    #expect(lines.sorted(using: SortDescriptor(\.text)).map(\.text) == ["item 10", "item 9"])
    let natural = SortDescriptor(\Line.text, comparator: .localizedStandard)
    #expect(lines.sorted(using: natural).map(\.text) == ["item 9", "item 10"])
    #expect(
      try lines.sortedThrowing(using: [NSSortDescriptor(natural)]).map(\.text) == ["item 9", "item 10"])
  }
}
