import Foundation
import Observation
import Testing

@testable import CoreDataRuntime

/// Fails when a toolchain lays out its runtime in another way than this module reads it. Everything goes on
/// working then, but by the slower ways that the second half of each test shows.
@Suite struct RuntimeLayoutTests {
  @Test func `the code of a closure is read, and is not compared without it`() {
    #expect(ClosureCode.isReadable)
    let first: Comparator = Self.comparator(.orderedSame)
    let second: Comparator = Self.comparator(.orderedAscending)
    let other: Comparator = { _, _ in .orderedDescending }
    // Asked outside of the macro, which is generic: it would wrap each closure in another one.
    let ofOnePlace: Bool = ClosureCode.isSame(first, second, uses: true)
    let ofTwoPlaces: Bool = ClosureCode.isSame(first, other, uses: true)
    let withoutReading: Bool = ClosureCode.isSame(first, second, uses: false)
    #expect(ofOnePlace)
    #expect(!ofTwoPlaces)
    #expect(!withoutReading)
  }

  @inline(never) private static func comparator(_ result: ComparisonResult) -> Comparator {
    { _, _ in result }
  }

  class Base {
    func first() -> Int { 1 }
    func second() -> Int { 2 }
  }
  final class Plain: Base {}
  class Overriding: Base { override func second() -> Int { 3 } }
  final class Below: Overriding {}
  final class Other: Base { override func first() -> Int { 4 } }

  @Test func `the place of a method is found, and every class counts as overriding it without`() {
    let place = VTableEntry(in: Base.self, plain: Plain.self, overriding: Overriding.self, uses: true)
    #expect(place.isKnown)
    #expect(place.isOverridden(by: Overriding.self))
    #expect(place.isOverridden(by: Below.self))
    #expect(!place.isOverridden(by: Other.self))
    #expect(!place.isOverridden(by: Plain.self))
    #expect(!place.isOverridden(by: Base.self))
    let without = VTableEntry(in: Base.self, plain: Plain.self, overriding: Overriding.self, uses: false)
    #expect(!without.isKnown)
    #expect(without.isOverridden(by: Plain.self))
    #expect(!without.isOverridden(by: Base.self))
  }

  @Test func `classes are found by their bare names, and none is without the records`() {
    #expect(TypeSearch.isReadable)
    #expect(TypeSearch.classes(named: "Overriding", subclassOf: Base.self, uses: true).count == 1)
    #expect(TypeSearch.classes(named: "Overriding", subclassOf: Base.self, uses: false).isEmpty)
  }

  @Test func `an open scope of Observation shows itself`() {
    #expect(ObservationScope.isVisible)
    var inside: Bool = false
    withObservationTracking {
      inside = ObservationScope.isOpen
    } onChange: {
    }
    #expect(inside)
  }

  @Test func `what goes into an argument list comes out, and nothing does without reading it`() {
    #expect(ArgumentList.isReadable)
    withVaList([Int32(-1), 0.5]) {
      #expect(ArgumentList.words(of: $0, ["%d", "%a"], uses: true) == ["-1", "0x1p-1"])
    }
    withVaList([Int32(-1)]) { #expect(ArgumentList.words(of: $0, ["%d"], uses: false) == nil) }
  }
}
