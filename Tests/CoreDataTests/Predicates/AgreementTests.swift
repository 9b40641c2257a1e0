import CoreData
import CoreDataPredicates
import Foundation
import StackSupport
import Testing

/// Predicates that once gave other objects from a store than in memory.
struct AgreementTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let why: String
    let entity: String
    let node: PredicateNode

    init(_ why: String, _ entity: String, _ format: String, _ arguments: [any Sendable] = []) {
      self.why = why
      self.entity = entity
      do {
        node = try NSPredicate(parsing: format, arguments: arguments).predicateNode()
      } catch {
        preconditionFailure("\(error)")
      }
    }

    var testDescription: String { "\(why): \(Printer.print(node))" }
  }

  private static func decimal(_ text: String) -> Decimal { Decimal(string: text) ?? .nan }

  static let cases: [Case] = [
    Case("nil is no member of a set's values", "LawThing", "i32 IN tags.weight"),
    Case("nil is no member of a set's values", "LawTag", "pickedBy.twin.number CONTAINS weight"),
    Case("nil is among an array's values", "LawThing", "title IN steps.name"),
    Case("a missing target of a to-one is no member", "LawPart", "mentor IN tags.pickedBy.owner"),
    Case("ANY and ALL meet the nils of members", "LawTag", "ANY pickedBy.data == nil"),
    Case("ANY and ALL meet the nils of members", "LawThing", "ALL friends.float <= 3.5"),
    Case("ANY and ALL meet the nils of members", "LawOwner", "ANY things.flag == active"),
    Case("the members of nobody are none", "LawStep", "count:(thing.children) <= 0"),
    Case("a function of values counts values", "LawThing", "count(tags.@distinctUnionOfObjects.flag) == 1"),
    Case("a function of a set's values counts each once", "LawThing", "count(tags.flag) == 2"),
    Case("a function of a set's values adds each once", "LawOwner", "sum(things.i32) != things.@sum.i32"),
    Case(
      "long decimals are not their neighbours", "LawTag", "price IN %@",
      [[decimal("12345678901234567890.12345678")]]),
    Case(
      "long decimals are not their neighbours", "LawTag", "price > %@",
      [decimal("12345678901234567890.12345678")]),
    Case("decimals add up as decimals", "LawTag", "price + %@ == %@", [decimal("0.2"), decimal("0.3")]),
    Case(
      "decimals add up as decimals", "LawOwner", "ANY things.decimal == %@ - %@",
      [decimal("0.3"), decimal("0.2")]),
    Case("a text goes on behind a NUL", "LawThing", "text ENDSWITH 'b'"),
    Case("sets of nobody are nothing", "LawThing", "(parent.friends UNION children)[SIZE] > 2"),
    Case(
      "a message without its argument gives nil", "LawThing",
      "FUNCTION(title, 'stringByAppendingString:', text) != nil"),
  ]

  @Test(arguments: cases)
  func `what once differed agrees`(sample: Case) throws {
    var telling: Int = 0
    for population in Self.populations {
      for store in population {
        switch LawCase(entity: sample.entity, node: sample.node, bindings: [:]).run(store) {
        case .agreed(let matching, let answered, _): if matching > 0, matching < answered { telling += 1 }
        case .refused(let reason): Issue.record("\(store.kind.rawValue) refuses: \(reason)")
        case .different(let text): Issue.record("\(store.kind.rawValue): \(text)")
        }
      }
    }
    #expect(telling > 0, "no population has rows that match and rows that don't")
  }

  // Each store works on its context's queue.
  nonisolated(unsafe) private static let populations: [[LawStore]] = (1...3).map { seed in
    StoreKind.allCases.compactMap { try? LawStore($0, population: LawPopulation(seed: seed)) }
  }
}
