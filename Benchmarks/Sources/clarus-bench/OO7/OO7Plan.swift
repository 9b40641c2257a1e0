/// The database as values, made from a seed: every implementation is built from it.
///
/// Two things differ from the paper. The composite parts of a base assembly differ from each other (the paper
/// draws with replacement, and its collections are bags; a to-many relationship is a set). A document's text
/// repeats a sentence with its number.
struct OO7Plan {
  struct AtomicPart {
    var number: Int
    var type: String
    var buildDate: Int
    var x: Int
    var y: Int
    var docID: Int
  }

  struct Connection {
    /// Places in `atomicParts`.
    var from: Int
    var to: Int
    var type: String
    var length: Int
  }

  struct CompositePart {
    var number: Int
    var type: String
    var buildDate: Int
    var documentTitle: String
    var documentText: String
    var atomicParts: [AtomicPart]
    /// Places within the composite part.
    var connections: [Connection]
  }

  struct Assembly {
    var number: Int
    var type: String
    var buildDate: Int
    /// A place in `assemblies`; nil for the design root. Parents come before their children.
    var parent: Int?
    var isBase: Bool
    /// Places in `composites`.
    var componentsPrivate: [Int] = []
    var componentsShared: [Int] = []
  }

  let configuration: OO7Configuration
  private(set) var composites: [CompositePart] = []
  private(set) var assemblies: [Assembly] = []
  let manualText: String
  /// Inputs of the operations.
  let query1Numbers: [Int]
  let query4Titles: [String]
  let newComposites: [CompositePart]
  /// The base assemblies (their numbers) that refer to the new composite parts, in turn.
  let updatedAssemblies: [Int]

  init(_ configuration: OO7Configuration) {
    self.configuration = configuration
    var random = SplitMix(seed: configuration.seed)
    let sentence: String = "I am the manual of the module. "
    manualText = Self.text(sentence, configuration.manualSize)
    var nextPart: Int = 1
    for number in 1...configuration.numCompPerModule {
      composites.append(Self.composite(number, configuration, &nextPart, &random))
    }
    var new: [CompositePart] = []
    for offset in 1...configuration.numNewCompParts {
      new.append(
        Self.composite(configuration.numCompPerModule + offset, configuration, &nextPart, &random))
    }
    newComposites = new
    query1Numbers = (0..<configuration.query1Count).map { _ in
      1 + random.below(configuration.atomicParts)
    }
    query4Titles = (0..<configuration.query4Count).map { _ in
      Self.title(1 + random.below(configuration.numCompPerModule))
    }
    var level: [Int?] = [nil]
    var updated: [Int] = []
    for depth in 1...configuration.numAssmLevels {
      var next: [Int?] = []
      for parent in level {
        for _ in 0..<(depth == 1 ? 1 : configuration.numAssmPerAssm) {
          let isBase: Bool = depth == configuration.numAssmLevels
          var assembly = Assembly(
            number: assemblies.count + 1, type: random.type, buildDate: random.within(OO7Range.assemblyDate),
            parent: parent, isBase: isBase)
          if isBase {
            assembly.componentsPrivate = random.distinct(
              configuration.numCompPerAssm, below: configuration.numCompPerModule)
            assembly.componentsShared = random.distinct(
              configuration.numCompPerAssm, below: configuration.numCompPerModule)
          }
          next.append(assemblies.count)
          assemblies.append(assembly)
        }
      }
      level = next
    }
    for place in random.distinct(configuration.baseAssmUpdateCount, below: configuration.baseAssemblies) {
      updated.append(configuration.complexAssemblies + place + 1)
    }
    updatedAssemblies = updated
  }

  static func title(_ composite: Int) -> String { "Composite Part \(composite)" }

  private static func composite(
    _ number: Int, _ configuration: OO7Configuration, _ nextPart: inout Int, _ random: inout SplitMix
  ) -> CompositePart {
    let count: Int = configuration.numAtomicPerComp
    let isYoung: Bool = number % OO7Range.youngFraction == 0
    let date: Int = random.within(isYoung ? OO7Range.youngCompositeDate : OO7Range.oldCompositeDate)
    let parts: [AtomicPart] = (0..<count).map { place in
      AtomicPart(
        number: nextPart + place, type: random.type, buildDate: random.within(OO7Range.atomicDate),
        x: random.within(OO7Range.coordinate), y: random.within(OO7Range.coordinate),
        docID: 1 + random.below(configuration.numCompPerModule))
    }
    nextPart += count
    var connections: [Connection] = []
    for from in 0..<count {
      // A ring first, so that each part can be reached from the root part.
      for turn in 0..<configuration.numConnPerAtomic {
        connections.append(
          Connection(
            from: from, to: turn == 0 ? (from + 1) % count : random.below(count), type: random.type,
            length: random.within(OO7Range.coordinate)))
      }
    }
    return CompositePart(
      number: number, type: random.type, buildDate: date, documentTitle: title(number),
      documentText: text(
        "I am the documentation for composite part #\(number).\n", configuration.documentSize),
      atomicParts: parts, connections: connections)
  }

  private static func text(_ sentence: String, _ bytes: Int) -> String {
    let times: Int = bytes / sentence.utf8.count + 1
    return String(decoding: String(repeating: sentence, count: times).utf8.prefix(bytes), as: UTF8.self)
  }

  /// - Throws: an error that names a size that differs from the paper's.
  func check() throws {
    func demand(_ what: String, _ found: Int, _ wanted: Int) throws {
      guard found == wanted else { throw BenchmarkError("OO7 has \(found) \(what), not \(wanted)") }
    }
    try demand("base assemblies", assemblies.count { $0.isBase }, configuration.baseAssemblies)
    try demand("complex assemblies", assemblies.count { !$0.isBase }, configuration.complexAssemblies)
    try demand("composite parts", composites.count, configuration.numCompPerModule)
    try demand("atomic parts", composites.reduce(0) { $0 + $1.atomicParts.count }, configuration.atomicParts)
    try demand("connections", composites.reduce(0) { $0 + $1.connections.count }, configuration.connections)
    for composite in composites + newComposites {
      var outgoing: [Int] = Array(repeating: 0, count: composite.atomicParts.count)
      for connection in composite.connections { outgoing[connection.from] += 1 }
      for count in outgoing { try demand("connections at a part", count, configuration.numConnPerAtomic) }
      try demand("bytes in a document", composite.documentText.utf8.count, configuration.documentSize)
    }
    try demand("bytes in the manual", manualText.utf8.count, configuration.manualSize)
  }
}

extension SplitMix {
  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

  mutating func within(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }

  fileprivate var type: String {
    mutating get { OO7Range.types[below(OO7Range.types.count)] }
  }

  fileprivate mutating func distinct(_ count: Int, below limit: Int) -> [Int] {
    var chosen: [Int] = []
    while chosen.count < count {
      let place: Int = below(limit)
      if !chosen.contains(place) { chosen.append(place) }
    }
    return chosen
  }
}
