/// Places parts that no line connects side by side, in rows.
enum ShelfPacking {
  /// The place of each part, for sizes.
  static func places(_ sizes: [(width: Int, height: Int)], _ gap: Int) -> [GraphLayout.Point] {
    let area: Double = sizes.map { Double($0.width + gap) * Double($0.height + gap) }.reduce(0, +)
    let limit: Int = max(sizes.map(\.width).max() ?? 0, Int((area * 1.5).squareRoot()))
    // High ones first, so that rows have parts of like heights.
    let order: [Int] = sizes.indices.sorted { (-sizes[$0].height, $0) < (-sizes[$1].height, $1) }
    var places: [GraphLayout.Point] = Array(repeating: GraphLayout.Point(x: 0, y: 0), count: sizes.count)
    // The rows, and within one the stacks of parts that are lower than the first.
    var shelves: [(x: Int, y: Int, height: Int)] = []
    var stack: (x: Int, y: Int, width: Int, end: Int) = (0, 0, 0, 0)
    for part in order {
      let size = sizes[part]
      if size.width <= stack.width, stack.y + size.height <= stack.end {
        places[part] = GraphLayout.Point(x: stack.x, y: stack.y)
        stack.y += size.height + gap
        continue
      }
      if let shelf = shelves.last, shelf.x + size.width <= limit {
        places[part] = GraphLayout.Point(x: shelf.x, y: shelf.y)
      } else {
        let y: Int = shelves.last.map { $0.y + $0.height + gap } ?? 0
        shelves.append((0, y, size.height))
        places[part] = GraphLayout.Point(x: 0, y: y)
      }
      let shelf = shelves[shelves.count - 1]
      stack = (
        places[part].x, shelf.y + size.height + gap, size.width, shelf.y + shelf.height
      )
      shelves[shelves.count - 1].x = places[part].x + size.width + gap
    }
    return places
  }
}
