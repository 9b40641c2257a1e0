/// Sorts columns so that few lines cross: in sweeps to the right and to the left each column is sorted by the
/// mean place of its neighbours, and then neighbours are exchanged as long as that helps. The best order that
/// was seen is kept.
struct CrossingReduction {
  private var columns: LayerColumns
  /// The place of each item in its column.
  private var places: [Int]

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
    var best: (order: [[Int]], cost: Int) = (columns.order, cost)
    var sinceBest: Int = 0
    // Large graphs are not worth the time.
    let isLarge: Bool = columns.links.count > 600
    for round in 0..<(isLarge ? 6 : 24) where sinceBest < 8 {
      let isForward: Bool = round.isMultiple(of: 2)
      let path: [Int] = isForward ? Array(columns.order.indices) : columns.order.indices.reversed()
      for column in path { sort(column, isForward: isForward) }
      exchange(isLarge ? 2 : 20)
      let found: Int = cost
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
      for loop in columns.loops where loop.upper != loop.lower {
        guard loop.upper == item || loop.lower == item else { continue }
        sum += Double(places[loop.upper == item ? loop.lower : loop.upper])
        count += 1
      }
      return (count == 0 ? Double(place) : sum / count, place, item)
    }
    columns.order[column] = keys.sorted { ($0.key, $0.place) < ($1.key, $1.place) }.map(\.item)
    number(column)
  }

  // MARK: Counting

  private var cost: Int {
    var sum: Int = 0
    for column in columns.order.indices {
      let links: [LayerColumns.Link] = columns.order[column].flatMap { columns.rightLinks[$0] }
        .map { columns.links[$0] }
      for (number, one) in links.enumerated() {
        for other in links[(number + 1)...] where isCrossing(one, other) { sum += 1 }
      }
    }
    return sum * 4 + loopCost
  }

  /// Boxes between the ends of a loop.
  private var loopCost: Int {
    columns.loops.map { max(0, abs(places[$0.upper] - places[$0.lower]) - 1) * 3 }.reduce(0, +)
  }

  private func isCrossing(_ one: LayerColumns.Link, _ other: LayerColumns.Link) -> Bool {
    let left: Int = compare(one.left, one.leftOffset, other.left, other.leftOffset)
    let right: Int = compare(one.right, one.rightOffset, other.right, other.rightOffset)
    return left * right < 0
  }

  private func compare(_ item: Int, _ offset: Int, _ other: Int, _ otherOffset: Int) -> Int {
    if item == other { return (offset - otherOffset).signum() }
    return (places[item] - places[other]).signum()
  }

  // MARK: Exchanging

  /// Exchanges neighbours in a column as long as fewer lines cross then.
  private mutating func exchange(_ limit: Int) {
    for _ in 0..<limit {
      var isBetter = false
      for column in columns.order.indices {
        for place in columns.order[column].indices.dropLast() {
          let (upper, lower) = (columns.order[column][place], columns.order[column][place + 1])
          let before: Int = crossings(upper, lower) * 4 + loopCost
          swap(column, place)
          let after: Int = crossings(upper, lower) * 4 + loopCost
          if after < before {
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

  /// Between the lines of two items.
  private func crossings(_ one: Int, _ other: Int) -> Int {
    var sum: Int = 0
    for links in [columns.leftLinks, columns.rightLinks] {
      for first in links[one] {
        for second in links[other] where isCrossing(columns.links[first], columns.links[second]) { sum += 1 }
      }
    }
    return sum
  }
}
