import Foundation
import Testing

@testable import CoreDataEvaluation
@testable import CoreDataPredicates

struct SortingTests {
  private final class Person {
    let name: String?
    let age: Int

    init(_ name: String?, _ age: Int) {
      self.name = name
      self.age = age
    }
  }

  @Test func `nulls come first when ascending and last when descending`() throws {
    let rows: [[String: Any]] = [["n": 2], [:], ["n": 1.5]]
    let up: [[String: Any]] = try rows.sortedThrowing(using: [NSSortDescriptor(key: "n", ascending: true)])
    #expect(up.map { $0["n"] == nil } == [true, false, false])
    let down: [[String: Any]] = try rows.sortedThrowing(using: [NSSortDescriptor(key: "n", ascending: false)])
    #expect(down.map { ($0["n"] as? Int) ?? -1 } == [2, -1, -1])
    #expect(down.last?["n"] == nil)
  }

  @Test func `Foundation sorts with descriptors by key`() {
    let sorted: [Any] = NSArray(array: [["n": "b"], ["n": "a"]]).sortedArray(using: [
      NSSortDescriptor(key: "n", ascending: true)
    ])
    #expect((sorted.first as? [String: String])?["n"] == "a")
  }

  @Test func `strings are compared as asked`() throws {
    let names: [String] = ["item 10", "Item 2", "item 1"]
    func order(_ comparison: StringComparison) throws -> [String] {
      try names.sortedThrowing(using: [NSSortDescriptor(key: "self", ascending: true, comparison: comparison)]
      )
    }
    #expect(try order(.plain) == ["Item 2", "item 1", "item 10"])
    #expect(try order(.caseInsensitive) == ["item 1", "item 10", "Item 2"])
    #expect(try order(.localizedStandard) == ["item 1", "Item 2", "item 10"])
  }

  @Test func `descriptors tell what SQL needs`() throws {
    #expect(NSSortDescriptor(key: "a.b", ascending: false).sortTerm == SortTerm(key: "a.b", ascending: false))
    #expect(NSSortDescriptor(key: "a", ascending: true, comparator: { _, _ in .orderedSame }).sortTerm == nil)
    let reversed = try #require(
      NSSortDescriptor(key: "a", ascending: true).reversedSortDescriptor as? NSSortDescriptor)
    #expect(reversed.sortTerm == SortTerm(key: "a", ascending: false))
    #expect(NSSortDescriptor(keyPath: \Person.age, ascending: true).key == "age")
    let optional: NSSortDescriptor = NSSortDescriptor(keyPath: \Person.name, ascending: true)
    #expect(optional.key == "name")
    #expect(optional.compare(Person(nil, 1), to: Person("a", 1)) == .orderedAscending)
  }

  @Test func `values without order are an error`() {
    let descriptor: NSSortDescriptor = NSSortDescriptor(key: "n", ascending: true)
    #expect(throws: PredicateError.self) { try descriptor.compareThrowing(["n": 1], to: ["n": "1"]) }
    #expect(throws: PredicateError.self) {
      try descriptor.compareThrowing(Person(nil, 1), to: Person(nil, 1))
    }
  }
}
