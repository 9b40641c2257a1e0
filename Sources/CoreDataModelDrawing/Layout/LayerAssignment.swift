/// Gives each box a column.
///
/// It begins with the longest paths of the graph without cycles. A model with a hub would then have one
/// column of thirty boxes, so boxes are moved, one at a time and as long as that makes the picture better, to
/// columns in which their lines are short, run forward, and no column is much higher than the picture is to
/// be.
struct LayerAssignment {
  private let graph: LayoutGraph
  /// The edges of each node, without loops.
  private var incident: [[Int]]
  private var layers: [Int]
  private var heights: [Int] = []
  private let wantedHeight: Int
  private let layerLimit: Int
  private let gap: Int

  static func layers(of graph: LayoutGraph, _ spacing: LayoutSpacing) -> [Int] {
    var assignment = LayerAssignment(graph, spacing)
    assignment.improve()
    return assignment.compact()
  }

  private init(_ graph: LayoutGraph, _ spacing: LayoutSpacing) {
    self.graph = graph
    gap = spacing.boxes
    incident = Array(repeating: [], count: graph.nodes.count)
    for (number, edge) in graph.edges.enumerated() where edge.from.node != edge.to.node {
      incident[edge.from.node].append(number)
      incident[edge.to.node].append(number)
    }
    // Pictures are a little wider than high.
    let total: Int = graph.nodes.map { $0.height + spacing.boxes }.reduce(0, +)
    let columnWidth: Int = (graph.nodes.map(\.width).reduce(0, +)) / max(1, graph.nodes.count) + 80
    let columns: Double = max(1, (1.3 * Double(total) / Double(columnWidth)).squareRoot())
    wantedHeight = max(graph.nodes.map(\.height).max() ?? 0, Int(Double(total) / columns * 1.15))
    layerLimit = max(3, Int((columns * 1.6).rounded(.up)))

    let edges: [(from: Int, to: Int)] = graph.edges.map { ($0.from.node, $0.to.node) }
    let places: [Int] = CycleRemoval.places(nodeCount: graph.nodes.count, edges: edges)
    layers = Array(repeating: 0, count: graph.nodes.count)
    for node in graph.nodes.indices.sorted(by: { places[$0] < places[$1] }) {
      for number in incident[node] {
        let edge: LayoutGraph.Edge = graph.edges[number]
        let other: Int = edge.from.node == node ? edge.to.node : edge.from.node
        if places[other] < places[node] { layers[node] = max(layers[node], layers[other] + 1) }
      }
    }
    // Long chains turn back and forth.
    let period: Int = max(1, 2 * (layerLimit - 1))
    layers = layers.map { layer in
      let rest: Int = layer % period
      return rest < layerLimit ? rest : period - rest
    }
    // There is room at both sides: the neighbours of a hub go to its left too.
    let shift: Int = (layerLimit - 1 - (layers.max() ?? 0)) / 2
    layers = layers.map { $0 + shift }
    heights = Array(repeating: 0, count: layerLimit)
    for node in graph.nodes.indices { heights[layers[node]] += graph.nodes[node].height + gap }
  }

  // MARK: Cost

  private func cost(of edge: LayoutGraph.Edge, _ from: Int, _ to: Int) -> Int {
    let distance: Int = to - from
    if distance == 0 { return edge.isStrict ? 400 : 240 }
    return (abs(distance) - 1) * 130 + (distance > 0 ? 0 : edge.isStrict ? 300 : 40)
  }

  private func cost(ofHeight height: Int) -> Int {
    let excess: Int = max(0, height - wantedHeight) / 10
    return excess * excess / 2
  }

  /// What the picture costs more with the node in another layer.
  private func change(_ node: Int, to layer: Int) -> Int {
    let old: Int = layers[node]
    var change: Int = 0
    for number in incident[node] {
      let edge: LayoutGraph.Edge = graph.edges[number]
      if edge.from.node == node {
        let other: Int = layers[edge.to.node]
        change += cost(of: edge, layer, other) - cost(of: edge, old, other)
      } else {
        let other: Int = layers[edge.from.node]
        change += cost(of: edge, other, layer) - cost(of: edge, other, old)
      }
    }
    let height: Int = graph.nodes[node].height + gap
    change += cost(ofHeight: heights[layer] + height) - cost(ofHeight: heights[layer])
    change += cost(ofHeight: heights[old] - height) - cost(ofHeight: heights[old])
    return change
  }

  // MARK: Moving boxes

  private mutating func improve() {
    for _ in 0..<60 {
      var isBetter = false
      for node in graph.nodes.indices {
        var best: (layer: Int, change: Int) = (layers[node], 0)
        for layer in 0..<layerLimit where layer != layers[node] {
          let change: Int = change(node, to: layer)
          if change < best.change { best = (layer, change) }
        }
        guard best.change < 0 else { continue }
        heights[layers[node]] -= graph.nodes[node].height + gap
        heights[best.layer] += graph.nodes[node].height + gap
        layers[node] = best.layer
        isBetter = true
      }
      if !isBetter { return }
    }
  }

  /// Without layers that have no box.
  private func compact() -> [Int] {
    let used: [Int] = Set(layers).sorted()
    let numbers: [Int: Int] = Dictionary(
      uniqueKeysWithValues: used.enumerated().map { ($0.element, $0.offset) })
    return layers.map { numbers[$0] ?? 0 }
  }
}
