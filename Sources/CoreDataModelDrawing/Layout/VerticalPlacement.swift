/// Moves the items of each column up and down, without changing their order, until as many lines as possible
/// are straight.
///
/// A column whose neighbours stand still is a problem that is solved exactly: the sum of the distances
/// between the ends of lines is least, under the condition that items keep their gaps, for block medians
/// (pool adjacent violators). The columns are solved one after the other, there and back.
struct VerticalPlacement {
  private let columns: LayerColumns
  private let spacing: LayoutSpacing
  private var tops: [Int]

  static func tops(of columns: LayerColumns, _ spacing: LayoutSpacing) -> [Int] {
    var placement = VerticalPlacement(columns, spacing)
    placement.run()
    return placement.tops
  }

  private init(_ columns: LayerColumns, _ spacing: LayoutSpacing) {
    self.columns = columns
    self.spacing = spacing
    tops = Array(repeating: 0, count: columns.items.count)
    for column in columns.order.indices {
      let offsets: [Int] = offsets(of: column)
      let height: Int =
        (offsets.last ?? 0) + (columns.order[column].last.map { columns.items[$0].height } ?? 0)
      for (place, item) in columns.order[column].enumerated() { tops[item] = offsets[place] - height / 2 }
    }
  }

  /// Where items begin if they stand as close as they may.
  private func offsets(of column: Int) -> [Int] {
    var result: [Int] = []
    var end: Int = 0
    var previous: LayerColumns.Item?
    for number in columns.order[column] {
      let item: LayerColumns.Item = columns.items[number]
      if let previous {
        switch (previous.node, item.node) {
        case (nil, nil): end += spacing.lines
        case (nil, _), (_, nil): end += spacing.boxToLine
        default: end += spacing.boxes
        }
      }
      result.append(end)
      end += item.height
      previous = item
    }
    return result
  }

  /// First from the column of the box with most lines outwards, so that others gather round it.
  private mutating func run() {
    func lineCount(_ item: Int) -> Int { columns.leftLinks[item].count + columns.rightLinks[item].count }
    var hub: Int = 0
    for item in columns.items.indices where lineCount(item) > lineCount(hub) { hub = item }
    let middle: Int = columns.items[hub].column
    for column in columns.order.indices where column > middle { place(column, sides: [true]) }
    for column in columns.order.indices.reversed() where column < middle { place(column, sides: [false]) }
    for _ in 0..<10 {
      let before: [Int] = tops
      for column in columns.order.indices { place(column, sides: [true, false]) }
      for column in columns.order.indices.reversed() { place(column, sides: [true, false]) }
      if tops == before { break }
    }
  }

  // MARK: A column

  private struct Term {
    var target: Int
    var weight: Int
  }

  /// Items that stand as close as they may.
  private struct Block {
    var count: Int
    var terms: [Term]
    /// Where its first item would begin if nothing stood above it, before and now.
    var former: Int
    var value: Int

    init(count: Int, terms: [Term], former: Int) {
      self.count = count
      self.terms = terms.sorted { $0.target < $1.target }
      self.former = former
      value = former
      if !terms.isEmpty { value = median }
    }

    /// All values between two are equally good if half of the weights are at each side. At the ends lines are
    /// straight, and of these the nearer one is chosen, so that items don't wander.
    private var median: Int {
      let total: Int = terms.map(\.weight).reduce(0, +)
      var sum: Int = 0
      for (number, term) in terms.enumerated() {
        sum += term.weight
        if sum * 2 < total { continue }
        guard sum * 2 == total, number + 1 < terms.count else { return term.target }
        let other: Int = terms[number + 1].target
        return abs(former - term.target) <= abs(former - other) ? term.target : other
      }
      return former
    }
  }

  /// `sides`: whether the neighbours at the left (true), at the right (false), or both count.
  private mutating func place(_ column: Int, sides: [Bool]) {
    let offsets: [Int] = offsets(of: column)
    var blocks: [Block] = []
    for (place, item) in columns.order[column].enumerated() {
      var terms: [Term] = []
      for isLeft in sides {
        for number in isLeft ? columns.leftLinks[item] : columns.rightLinks[item] {
          let link: LayerColumns.Link = columns.links[number]
          let target: Int =
            isLeft
            ? tops[link.left] + link.leftOffset - link.rightOffset
            : tops[link.right] + link.rightOffset - link.leftOffset
          terms.append(Term(target: target - offsets[place], weight: weight(of: link)))
        }
      }
      blocks.append(Block(count: 1, terms: terms, former: tops[item] - offsets[place]))
      while blocks.count > 1, blocks[blocks.count - 2].value > blocks[blocks.count - 1].value {
        let (last, previous) = (blocks.removeLast(), blocks.removeLast())
        blocks.append(
          Block(
            count: previous.count + last.count, terms: previous.terms + last.terms, former: previous.former))
      }
    }
    var place: Int = 0
    for block in blocks {
      for _ in 0..<block.count {
        tops[columns.order[column][place]] = offsets[place] + block.value
        place += 1
      }
    }
  }

  /// Lines over several columns are straight first.
  private func weight(of link: LayerColumns.Link) -> Int {
    switch (columns.items[link.left].node, columns.items[link.right].node) {
    case (nil, nil): 40
    case (nil, _), (_, nil): 10
    default: 6
    }
  }
}
