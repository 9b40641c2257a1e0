/// The parameters of OO7's database, with the paper's names: Carey, DeWitt, Naughton, "The OO7 Benchmark",
/// SIGMOD 1993, table 1. Of the paper's 3, 6 or 9 connections for each atomic part, 3.
struct OO7Configuration {
  let size: OO7Size
  let numAtomicPerComp: Int
  let numConnPerAtomic: Int = 3
  /// In bytes.
  let documentSize: Int
  let manualSize: Int
  let numCompPerModule: Int = 500
  let numAssmPerAssm: Int = 3
  let numAssmLevels: Int = 7
  let numCompPerAssm: Int = 3
  /// The structural modifications: composite parts made, base assemblies that refer to them.
  let numNewCompParts: Int = 5
  let baseAssmUpdateCount: Int = 10
  let query1Count: Int = 10
  let query4Count: Int = 100
  let seed: UInt64 = 1993

  init(_ size: OO7Size) {
    self.size = size
    switch size {
    case .small: (numAtomicPerComp, documentSize, manualSize) = (20, 2_000, 100_000)
    case .medium: (numAtomicPerComp, documentSize, manualSize) = (200, 20_000, 1_000_000)
    }
  }

  // MARK: Sizes that follow

  /// The assemblies of the lowest level.
  var baseAssemblies: Int { (1..<numAssmLevels).reduce(1) { count, _ in count * numAssmPerAssm } }
  /// Those of the levels above: a geometric series.
  var complexAssemblies: Int { (baseAssemblies - 1) / (numAssmPerAssm - 1) }
  var atomicParts: Int { numCompPerModule * numAtomicPerComp }
  var connections: Int { atomicParts * numConnPerAtomic }

  /// What the paper's definition of an operation says that it returns; nil where that depends on the random
  /// references and dates.
  func count(of operation: OO7Operation) -> Int? {
    let visitedComposites: Int = baseAssemblies * numCompPerAssm
    return switch operation {
    case .t1, .t2b: visitedComposites * numAtomicPerComp
    case .t2a, .t6: visitedComposites
    case .t2c: visitedComposites * numAtomicPerComp * 4
    case .q1: query1Count
    case .q7, .q8: atomicParts
    case .insert, .delete: numNewCompParts * numAtomicPerComp
    case .q2, .q3, .q4, .q5, .q6: nil
    }
  }
}

enum OO7Size: String, CaseIterable { case small, medium }

/// Ranges of random values, as in the paper's table of dates.
enum OO7Range {
  static let assemblyDate = 1000...1999
  static let atomicDate = 1000...1999
  static let oldCompositeDate = 0...999
  static let youngCompositeDate = 2000...2999
  /// One composite part of so many is young.
  static let youngFraction: Int = 10
  static let coordinate = 0...99_999
  static let types: [String] = (0..<10).map { "type00\($0)" }
}

enum OO7Operation: String, CaseIterable, Codable {
  case t1, t2a, t2b, t2c, t6, q1, q2, q3, q4, q5, q6, q7, q8, insert, delete

  var title: String {
    switch self {
    case .t1: "T1 traverse all, visit each atomic part"
    case .t2a: "T2a traverse, swap x and y of each root part, save"
    case .t2b: "T2b traverse, swap x and y of each atomic part, save"
    case .t2c: "T2c the same four times a visit, save"
    case .t6: "T6 traverse, visit root parts only"
    case .q1: "Q1 look up 10 atomic parts by number"
    case .q2: "Q2 atomic parts of the last 1 % of dates"
    case .q3: "Q3 atomic parts of the last 10 % of dates"
    case .q4: "Q4 base assemblies that use 100 documents, by title"
    case .q5: "Q5 base assemblies older than a part of theirs"
    case .q6: "Q6 assemblies older than a part below them"
    case .q7: "Q7 scan all atomic parts"
    case .q8: "Q8 pairs of atomic parts and documents, by document id"
    case .insert: "insert 5 composite parts, refer to them in 10 assemblies, save"
    case .delete: "delete these 5 composite parts, save"
    }
  }

  var isTraversal: Bool { [.t1, .t2a, .t2b, .t2c, .t6].contains(self) }
  var isUpdate: Bool { [.t2a, .t2b, .t2c, .insert, .delete].contains(self) }
}

/// What an operation found: the number that the paper asks for, and a sum over values of what was visited.
struct OO7Result: Equatable {
  var count: Int = 0
  var sum: Int = 0

  mutating func visit(x: Int, y: Int) {
    count &+= 1
    sum &+= x &+ 3 &* y
  }

  mutating func add(_ value: Int) {
    count &+= 1
    sum &+= value
  }
}
