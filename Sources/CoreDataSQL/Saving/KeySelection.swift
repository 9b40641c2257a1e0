import CoreDataStorage

/// The rows that a statement is about, by their keys.
///
///     one        Z_PK = ?                    (key)
///     list(3)    Z_PK IN (?, ?, ?)           (keys)
///     range      Z_PK BETWEEN ? AND ?        (first key, last key)
package enum KeySelection: Sendable, Hashable {
  case one
  case list(Int)
  /// All keys between two; nothing need be searched but the first.
  case range

  /// How many parameters the condition has; they are the first of the statement.
  package var parameterCount: Int {
    switch self {
    case .one: 1
    case .list(let count): count
    case .range: 2
    }
  }

  /// The condition for a column that holds keys.
  func condition(_ column: String) -> SQLExpression {
    switch self {
    case .one: .binary(.equal, .column(nil, column), .parameter(1))
    case .list(let count): .inList(.column(nil, column), (1...count).map(SQLExpression.parameter))
    case .range: .between(.column(nil, column), .parameter(1), .parameter(2))
    }
  }

  /// A selection, and the keys to bind to it.
  package struct Part: Sendable, Equatable {
    package let selection: KeySelection
    package let keys: ArraySlice<Int64>

    /// The values of the parameters.
    package var values: ArraySlice<Int64> {
      selection == .range ? [keys[keys.startIndex], keys[keys.endIndex - 1]] : keys
    }
  }

  /// The sizes of lists: few, so that statements stay prepared.
  private static let listSizes: [Int] = [1000, 128, 16]
  /// The fewest consecutive keys that are a range.
  private static let shortestRange: Int = 16

  /// Divides keys, each of which is there once, into as few selections as there are ranges, lists of a few
  /// sizes, and single keys.
  package static func parts(of keys: [Int64]) -> [Part] {
    var parts: [Part] = []
    let sorted: [Int64] = isRising(keys) ? keys : keys.sorted()
    var others: [Int64] = []
    var start: Int = 0
    while start < sorted.count {
      var end: Int = start + 1
      while end < sorted.count, sorted[end] == sorted[end - 1] &+ 1 { end += 1 }
      if end - start < shortestRange {
        others += sorted[start..<end]
      } else {
        parts.append(Part(selection: .range, keys: sorted[start..<end]))
      }
      start = end
    }
    var rest: ArraySlice<Int64> = others[...]
    for size in listSizes {
      while rest.count >= size {
        parts.append(Part(selection: .list(size), keys: rest.prefix(size)))
        rest = rest.dropFirst(size)
      }
    }
    return parts + singles(of: rest)
  }

  /// Selects each key by itself.
  package static func singles(of keys: ArraySlice<Int64>) -> [Part] {
    keys.indices.map { Part(selection: .one, keys: keys[$0...$0]) }
  }

  private static func isRising(_ keys: [Int64]) -> Bool {
    for place in keys.indices.dropFirst() where keys[place] <= keys[place - 1] { return false }
    return true
  }
}
