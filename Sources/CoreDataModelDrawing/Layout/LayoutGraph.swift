/// Boxes and the lines between them, before they have places.
package struct LayoutGraph: Sendable {
  /// A box.
  package struct Node: Sendable {
    package var width: Int
    package var height: Int
    package init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }
  }

  /// Where a line may touch a box: at its left or its right side, so far below its top.
  package struct Port: Hashable, Sendable {
    package var node: Int
    /// Tells the ports of a box apart.
    package var number: Int
    package var offset: Int
    /// Whether lines that end here may run together before they do.
    package var isShared: Bool

    package init(node: Int, number: Int, offset: Int, isShared: Bool = false) {
      self.node = node
      self.number = number
      self.offset = offset
      self.isShared = isShared
    }
  }

  package struct Edge: Sendable {
    /// Stands left of `to`, if that is possible.
    package var from: Port
    package var to: Port
    /// Whether the direction matters to a reader, as that of inheritance does.
    package var isStrict: Bool

    package init(from: Port, to: Port, isStrict: Bool = false) {
      self.from = from
      self.to = to
      self.isStrict = isStrict
    }
  }

  package var nodes: [Node]
  package var edges: [Edge]

  package init(nodes: [Node], edges: [Edge]) {
    self.nodes = nodes
    self.edges = edges
  }

  /// The parts between which no line runs: for each its nodes and its edges, in their order.
  var components: [(nodes: [Int], edges: [Int])] {
    var label: [Int] = Array(nodes.indices)
    func root(_ node: Int) -> Int {
      var node: Int = node
      while label[node] != node { node = label[node] }
      return node
    }
    for edge in edges {
      let (left, right) = (root(edge.from.node), root(edge.to.node))
      label[max(left, right)] = min(left, right)
    }
    var places: [Int: Int] = [:]
    var result: [(nodes: [Int], edges: [Int])] = []
    for node in nodes.indices {
      let root: Int = root(node)
      if let place = places[root] {
        result[place].nodes.append(node)
      } else {
        places[root] = result.count
        result.append(([node], []))
      }
    }
    for (number, edge) in edges.enumerated() {
      if let place = places[root(edge.from.node)] { result[place].edges.append(number) }
    }
    return result
  }

  /// The graph of some nodes and edges, numbered from 0.
  func part(nodes some: [Int], edges lines: [Int]) -> LayoutGraph {
    let numbers: [Int: Int] = Dictionary(
      uniqueKeysWithValues: some.enumerated().map { ($0.element, $0.offset) })
    func moved(_ port: Port) -> Port {
      var port: Port = port
      port.node = numbers[port.node] ?? 0
      return port
    }
    return LayoutGraph(
      nodes: some.map { nodes[$0] },
      edges: lines.map { number in
        Edge(
          from: moved(edges[number].from), to: moved(edges[number].to), isStrict: edges[number].isStrict)
      })
  }
}

/// Distances, in pixels.
struct LayoutSpacing: Sendable {
  /// Between boxes above one another.
  var boxes: Int = 30
  /// Between a box and a line that passes it.
  var boxToLine: Int = 18
  /// Between lines beside one another.
  var lines: Int = 12
  /// From a box to the first line that turns: there is room for the marks at the line's end.
  var channelMargin: Int = 26
  /// Horizontal pieces that come nearer look like one.
  var clearance: Int = 6
  /// Between parts that no line connects.
  var parts: Int = 44
}
