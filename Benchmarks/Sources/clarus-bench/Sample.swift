/// One row of the benchmarks' table, not stored yet: four integers, two doubles, three strings, a flag.
///
/// The strings, since their lengths decide much of what is measured:
///
/// | property | bytes | what |
/// |---|---|---|
/// | `code` | 10 | ASCII; fits in a Swift string without a heap allocation (15 bytes and less do) |
/// | `title` | 24–31 | ASCII; does not |
/// | `note` | 40–130 | every eighth has letters outside ASCII |
struct Sample: Sendable {
  /// Unique, in no order; has an index.
  var number: Int64
  /// 0 to 99, evenly; has an index. One value selects 1 % of the rows.
  var section: Int32
  var quantity: Int32
  var priority: Int16
  var price: Double
  var weight: Double
  var code: String
  var title: String
  var note: String
  var done: Bool

  /// The row at a position. The same position always gives the same row.
  init(_ position: Int) {
    var random = SplitMix(seed: UInt64(position))
    number = Sample.number(position)
    section = Int32(random.next() % 100)
    quantity = Int32(truncatingIfNeeded: random.next() % 10_000)
    priority = Int16(random.next() % 5)
    price = Double(random.next() % 1_000_000) / 100
    weight = Double(random.next() >> 11) / 4096
    let word: UInt64 = random.next()
    code = "SKU-" + Self.digits(word % 0x1000000, radix: 16, width: 6)
    title =
      "Order \(Self.digits(UInt64(position), radix: 10, width: 8)) "
      + Self.names[Int(word >> 32) % Self.names.count]
    let sentences: [String] = word >> 60 < 2 ? Self.accented : Self.plain
    note = sentences[Int(word >> 40 & 0xff) % sentences.count]
    if word & 1 == 1 { note += " " + Self.plain[Int(word >> 48 & 0xff) % Self.plain.count] }
    done = word & 2 == 2
  }

  /// Different for every position, and scattered: an odd factor permutes the residues of a power of two.
  static func number(_ position: Int) -> Int64 { Int64((position &* 0x9E37_79B1) & 0xFF_FFFF_FFFF) }

  /// The first rows.
  static func make(count: Int) -> [Sample] { (0..<count).map { Sample($0) } }

  private static let names: [String] = [
    "for Ada L.", "for Grace H.", "for Kurt G.", "for Emmy N.", "for Alan T.",
  ]
  private static let plain: [String] = [
    "Leave the parcel with the neighbour on the left.",
    "Call before delivery; the bell is out of order.",
    "Second attempt, nobody was at home on Tuesday.",
    "Fragile: keep upright and away from the heater.",
    "The customer asked for an invoice on paper.",
  ]
  private static let accented: [String] = [
    "Bitte am Hintereingang läuten, Tür klemmt.",
    "Livré à l'étage, escalier étroit à gauche.",
    "ご不在の場合は宅配ボックスへ入れてください。",
  ]

  private static func digits(_ value: UInt64, radix: Int, width: Int) -> String {
    let text = String(value, radix: radix, uppercase: true)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
}

/// A small generator with a seed: every run has the same rows.
struct SplitMix {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word: UInt64 = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
