/// The columns of a layered graph: boxes, and in each column that a line crosses a place for it to pass.
struct LayerColumns {
  struct Item {
    /// Nil for the place at which a line passes.
    var node: Int?
    var height: Int
    var column: Int
  }

  /// A piece of a line between items of neighbouring columns.
  struct Link {
    var edge: Int
    var left: Int
    /// Below the top of the item at the left.
    var leftOffset: Int
    var right: Int
    var rightOffset: Int
  }

  /// A line between two ports in one column: it leaves to the right and comes back.
  struct Loop {
    var edge: Int
    var from: LayoutGraph.Port
    var to: LayoutGraph.Port
    var upper: Int
    var lower: Int
  }

  private(set) var items: [Item] = []
  /// The items of each column, from the top.
  var order: [[Int]]
  private(set) var links: [Link] = []
  /// Of each link the port that its line shares with others, if the link touches it.
  private var sharedPorts: [LayoutGraph.Port?] = []
  private(set) var loops: [Loop] = []
  /// The loops of each item, but for those that lead back to it.
  private(set) var itemLoops: [[Int]] = []
  /// The links at the left and at the right of each item.
  private(set) var leftLinks: [[Int]] = []
  private(set) var rightLinks: [[Int]] = []

  init(_ graph: LayoutGraph, layers: [Int]) {
    order = Array(repeating: [], count: (layers.max() ?? 0) + 1)
    for (node, layer) in layers.enumerated() {
      add(Item(node: node, height: graph.nodes[node].height, column: layer))
    }
    for (number, edge) in graph.edges.enumerated() {
      let (from, to) = (layers[edge.from.node], layers[edge.to.node])
      if from == to {
        if edge.from.node != edge.to.node {
          itemLoops[edge.from.node].append(loops.count)
          itemLoops[edge.to.node].append(loops.count)
        }
        loops.append(
          Loop(edge: number, from: edge.from, to: edge.to, upper: edge.from.node, lower: edge.to.node))
        continue
      }
      let (first, last) = from < to ? (edge.from, edge.to) : (edge.to, edge.from)
      var item: Int = first.node
      for column in min(from, to) + 1...max(from, to) {
        let isEnd: Bool = column == max(from, to)
        let next: Int = isEnd ? last.node : items.count
        if !isEnd { add(Item(node: nil, height: 0, column: column)) }
        let isStart: Bool = item == first.node
        rightLinks[item].append(links.count)
        leftLinks[next].append(links.count)
        links.append(
          Link(
            edge: number, left: item, leftOffset: isStart ? first.offset : 0, right: next,
            rightOffset: isEnd ? last.offset : 0))
        let ports: [LayoutGraph.Port] = (isStart ? [first] : []) + (isEnd ? [last] : [])
        sharedPorts.append(ports.first { $0.isShared })
        item = next
      }
    }
  }

  private mutating func add(_ item: Item) {
    order[item.column].append(items.count)
    items.append(item)
    leftLinks.append([])
    itemLoops.append([])
    rightLinks.append([])
  }

  // Nodes are the first items, in their order.
  func item(ofNode node: Int) -> Int { node }
  func column(ofNode node: Int) -> Int { items[node].column }

  /// What runs in the channel at the right of a column.
  func pieces(inChannel column: Int, tops: [Int]) -> [ChannelRouting.Piece] {
    var pieces: [ChannelRouting.Piece] = []
    for item in order[column] {
      for number in rightLinks[item] {
        let link: Link = links[number]
        pieces.append(
          ChannelRouting.Piece(
            edge: link.edge, start: tops[link.left] + link.leftOffset,
            end: .right(tops[link.right] + link.rightOffset), shared: sharedPorts[number]))
      }
    }
    for loop in loops where items[loop.upper].column == column {
      let shared: LayoutGraph.Port? = [loop.from, loop.to].first { $0.isShared }
      pieces.append(
        ChannelRouting.Piece(
          edge: loop.edge, start: tops[loop.from.node] + loop.from.offset,
          end: .left(tops[loop.to.node] + loop.to.offset), shared: shared))
    }
    return pieces
  }
}
