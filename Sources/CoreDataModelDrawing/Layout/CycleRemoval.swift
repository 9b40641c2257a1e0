/// Puts nodes into an order in which few edges run backwards: those are turned round for the layering.
///
/// The greedy heuristic of Eades, Lin and Smyth: sinks go to the end and sources to the front, and where
/// there are neither, the node with most outgoing edges in excess of incoming ones goes to the front.
enum CycleRemoval {
  /// The place of each node in the order.
  static func places(nodeCount: Int, edges: [(from: Int, to: Int)]) -> [Int] {
    var outgoing: [[Int]] = Array(repeating: [], count: nodeCount)
    var incoming: [[Int]] = Array(repeating: [], count: nodeCount)
    for edge in edges where edge.from != edge.to {
      outgoing[edge.from].append(edge.to)
      incoming[edge.to].append(edge.from)
    }
    var outDegree: [Int] = outgoing.map(\.count)
    var inDegree: [Int] = incoming.map(\.count)
    var isLeft: [Bool] = Array(repeating: true, count: nodeCount)
    var front: [Int] = []
    var back: [Int] = []

    func remove(_ node: Int) {
      isLeft[node] = false
      for other in outgoing[node] { inDegree[other] -= 1 }
      for other in incoming[node] { outDegree[other] -= 1 }
    }
    while front.count + back.count < nodeCount {
      let rest: [Int] = isLeft.indices.filter { isLeft[$0] }
      if let sink = rest.first(where: { outDegree[$0] == 0 }) {
        remove(sink)
        back.append(sink)
      } else if let source = rest.first(where: { inDegree[$0] == 0 }) {
        remove(source)
        front.append(source)
      } else {
        var best: Int = rest[0]
        for node in rest where outDegree[node] - inDegree[node] > outDegree[best] - inDegree[best] {
          best = node
        }
        remove(best)
        front.append(best)
      }
    }
    var places: [Int] = Array(repeating: 0, count: nodeCount)
    for (place, node) in (front + back.reversed()).enumerated() { places[node] = place }
    return places
  }
}
