/// Sorts columns so that few lines cross: in sweeps to the right and to the left each column is sorted by the
/// mean place of its neighbours, and then neighbours are exchanged as long as that helps. The best order that
/// was seen is kept.
struct CrossingReduction {
  private var columns: LayerColumns
  /// The place of each item in its column.
  private var places: [Int]
  /// Of lines with lines. Large graphs end when there were enough: a limit of time would make other pictures
  /// on other machines.
  private var comparisons: Int = 0
  private static let comparisonLimit: Int = 3_000_000

  static func sort(_ columns: inout LayerColumns) {
    var reduction = CrossingReduction(columns)
    reduction.run()
    columns = reduction.columns
  }

  private init(_ columns: LayerColumns) {
    self.columns = columns
    places = Array(repeating: 0, count: columns.items.count)
    for column in columns.order.indices { number(column) }
  }

  private mutating func number(_ column: Int) {
    for (place, item) in columns.order[column].enumerated() { places[item] = place }
  }

  private mutating func run() {
    var best: (order: [[Int]], cost: Int) = (columns.order, totalCost)
    var sinceBest: Int = 0
    for round in 0..<24 where sinceBest < 8 && comparisons < Self.comparisonLimit {
      let isForward: Bool = round.isMultiple(of: 2)
      let path: [Int] = isForward ? Array(columns.order.indices) : columns.order.indices.reversed()
      for column in path { sort(column, isForward: isForward) }
      exchange()
      let found: Int = totalCost
      sinceBest += 1
      if found < best.cost {
        best = (columns.order, found)
        sinceBest = 0
      }
      if best.cost == 0 { break }
    }
    columns.order = best.order
    for column in columns.order.indices { number(column) }
  }

  // MARK: Sorting

  /// The place at which a port is: whole numbers are the tops of items.
  private func place(_ item: Int, _ offset: Int) -> Double {
    Double(places[item]) + Double(offset) / Double(columns.items[item].height + 1)
  }

  private mutating func sort(_ column: Int, isForward: Bool) {
    let items: [Int] = columns.order[column]
    let keys: [(key: Double, place: Int, item: Int)] = items.enumerated().map { place, item in
      var sum: Double = 0
      var count: Double = 0
      for number in isForward ? columns.leftLinks[item] : columns.rightLinks[item] {
        let link: LayerColumns.Link = columns.links[number]
        sum +=
          isForward
          ? self.place(link.left, link.leftOffset) - Double(link.rightOffset) / 1000
          : self.place(link.right, link.rightOffset) - Double(link.leftOffset) / 1000
        count += 1
      }
      for loop in columns.itemLoops[item].map({ columns.loops[$0] }) {
        sum += Double(places[loop.upper == item ? loop.lower : loop.upper])
        count += 1
      }
      return (count == 0 ? Double(place) : sum / count, place, item)
    }
    columns.order[column] = keys.sorted { ($0.key, $0.place) < ($1.key, $1.place) }.map(\.item)
    number(column)
  }

  // MARK: Counting

  private var totalCost: Int {
    let crossings: Int = columns.order.map { items in
      // From the top at the left; of lines that cross, the ends at the right are in the other order.
      let ends: [(item: Int, offset: Int)] = items.flatMap { item in
        columns.rightLinks[item].map { columns.links[$0] }
          .map { ($0.leftOffset, places[$0.right], $0.rightOffset) }.sorted { $0 < $1 }.map { ($0.1, $0.2) }
      }
      return Self.inversions(ends).count
    }.reduce(0, +)
    let loops: Int = columns.loops.map(loopCost).reduce(0, +)
    return crossings * 4 + loops
  }

  /// The pairs that are not in order, counted while they are merged.
  private static func inversions(_ ends: [(item: Int, offset: Int)]) -> (
    count: Int, sorted: [(item: Int, offset: Int)]
  ) {
    if ends.count < 2 { return (0, ends) }
    let middle: Int = ends.count / 2
    let (left, right) = (inversions(Array(ends[..<middle])), inversions(Array(ends[middle...])))
    var count: Int = left.count + right.count
    var sorted: [(item: Int, offset: Int)] = []
    sorted.reserveCapacity(ends.count)
    var (one, other): (Int, Int) = (0, 0)
    while one < left.sorted.count || other < right.sorted.count {
      let takesRight: Bool =
        one == left.sorted.count || other < right.sorted.count && right.sorted[other] < left.sorted[one]
      if takesRight {
        count += left.sorted.count - one
        sorted.append(right.sorted[other])
        other += 1
      } else {
        sorted.append(left.sorted[one])
        one += 1
      }
    }
    return (count, sorted)
  }

  /// Boxes between the ends of a loop.
  private func loopCost(_ loop: LayerColumns.Loop) -> Int {
    max(0, abs(places[loop.upper] - places[loop.lower]) - 1) * 3
  }

  // MARK: Exchanging

  /// Exchanges neighbours in a column as long as fewer lines cross then.
  private mutating func exchange() {
    for _ in 0..<20 where comparisons < Self.comparisonLimit {
      var isBetter = false
      for column in columns.order.indices {
        for place in columns.order[column].indices.dropLast() {
          let (upper, lower) = (columns.order[column][place], columns.order[column][place + 1])
          let before: Int = pairCost(upper, lower)
          swap(column, place)
          if pairCost(lower, upper) < before {
            isBetter = true
          } else {
            swap(column, place)
          }
        }
      }
      if !isBetter { return }
    }
  }

  private mutating func swap(_ column: Int, _ place: Int) {
    columns.order[column].swapAt(place, place + 1)
    places[columns.order[column][place]] = place
    places[columns.order[column][place + 1]] = place + 1
  }

  /// What the lines of two neighbours cost, of which the first is the upper one.
  private mutating func pairCost(_ upper: Int, _ lower: Int) -> Int {
    var sum: Int = 0
    for one in columns.rightLinks[upper] {
      for other in columns.rightLinks[lower] {
        let (first, second) = (columns.links[one], columns.links[other])
        let isCrossing: Bool =
          first.right == second.right
          ? first.rightOffset > second.rightOffset : places[first.right] > places[second.right]
        if isCrossing { sum += 4 }
      }
    }
    for one in columns.leftLinks[upper] {
      for other in columns.leftLinks[lower] {
        let (first, second) = (columns.links[one], columns.links[other])
        let isCrossing: Bool =
          first.left == second.left
          ? first.leftOffset > second.leftOffset : places[first.left] > places[second.left]
        if isCrossing { sum += 4 }
      }
    }
    comparisons +=
      columns.rightLinks[upper].count * columns.rightLinks[lower].count
      + columns.leftLinks[upper].count * columns.leftLinks[lower].count + 1
    for number in columns.itemLoops[upper] + columns.itemLoops[lower] {
      sum += loopCost(columns.loops[number])
    }
    return sum
  }
}
