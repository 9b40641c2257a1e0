/// Boxes and lines with their places.
///
///     cycles     edges that run against the others are turned round (CycleRemoval)
///     layers     each box gets a column (LayerAssignment)
///     order      columns are sorted so that few lines cross (CrossingReduction)
///     heights    boxes move up and down until lines are straight (VerticalPlacement)
///     channels   between columns each line turns on a track of its own (ChannelRouting)
///
/// Equal graphs have equal layouts: nothing depends on the order of a dictionary, on time or on chance.
package struct GraphLayout: Sendable {
  package struct Point: Hashable, Sendable {
    package var x: Int
    package var y: Int
    package init(x: Int, y: Int) {
      self.x = x
      self.y = y
    }
  }

  package struct Frame: Hashable, Sendable {
    package var x: Int
    package var y: Int
    package var width: Int
    package var height: Int
    package var right: Int { x + width }
    package var bottom: Int { y + height }
  }

  /// Of the graph's nodes.
  package private(set) var frames: [Frame]
  /// Of the graph's edges, each from its `from` to its `to`; every piece is horizontal or vertical.
  package private(set) var routes: [[Point]]
  package private(set) var width: Int = 0
  package private(set) var height: Int = 0

  /// Cost: for a model of a hundred entities some hundredths of a second.
  package init(_ graph: LayoutGraph) {
    let spacing = LayoutSpacing()
    frames = Array(repeating: Frame(x: 0, y: 0, width: 0, height: 0), count: graph.nodes.count)
    routes = Array(repeating: [], count: graph.edges.count)
    let components = graph.components
    let parts: [LayeredPart] = components.map {
      LayeredPart(graph.part(nodes: $0.nodes, edges: $0.edges), spacing)
    }
    let places: [Point] = ShelfPacking.places(parts.map { ($0.width, $0.height) }, spacing.parts)
    for (number, component) in components.enumerated() {
      let (part, place) = (parts[number], places[number])
      for (inner, node) in component.nodes.enumerated() {
        frames[node] = part.frames[inner]
        frames[node].x += place.x
        frames[node].y += place.y
      }
      for (inner, edge) in component.edges.enumerated() {
        routes[edge] = part.routes[inner].map { Point(x: $0.x + place.x, y: $0.y + place.y) }
      }
      width = max(width, place.x + part.width)
      height = max(height, place.y + part.height)
    }
  }
}

/// The layout of a connected graph.
struct LayeredPart {
  private(set) var frames: [GraphLayout.Frame] = []
  private(set) var routes: [[GraphLayout.Point]] = []
  private(set) var width: Int = 0
  private(set) var height: Int = 0

  init(_ graph: LayoutGraph, _ spacing: LayoutSpacing) {
    let layers: [Int] = LayerAssignment.layers(of: graph, spacing)
    var columns = LayerColumns(graph, layers: layers)
    CrossingReduction.sort(&columns)
    let tops: [Int] = VerticalPlacement.tops(of: columns, spacing)
    route(graph, columns, tops, spacing)
    moveToOrigin()
  }

  private mutating func route(
    _ graph: LayoutGraph, _ columns: LayerColumns, _ tops: [Int], _ spacing: LayoutSpacing
  ) {
    // Boxes of a column have one width.
    let widths: [Int] = columns.order.map { items in
      items.compactMap { columns.items[$0].node.map { graph.nodes[$0].width } }.max() ?? 0
    }
    let channels: [ChannelRouting] = columns.order.indices.map { column in
      ChannelRouting(columns.pieces(inChannel: column, tops: tops), spacing)
    }
    var lefts: [Int] = []
    var x: Int = 0
    for (column, width) in widths.enumerated() {
      lefts.append(x)
      x += width + channels[column].width(isLast: column == widths.count - 1)
    }
    frames = graph.nodes.indices.map { node in
      let column: Int = columns.column(ofNode: node)
      return GraphLayout.Frame(
        x: lefts[column], y: tops[columns.item(ofNode: node)], width: widths[column],
        height: graph.nodes[node].height)
    }
    var pieces: [[(column: Int, points: [GraphLayout.Point])]] = Array(
      repeating: [], count: graph.edges.count)
    for (column, channel) in channels.enumerated() {
      let left: Int = lefts[column] + widths[column]
      let right: Int? = column + 1 < lefts.count ? lefts[column + 1] : nil
      for route in channel.routes(left: left, right: right) {
        pieces[route.edge].append((column, route.points))
      }
    }
    routes = graph.edges.indices.map { number in
      let points: [GraphLayout.Point] = pieces[number].flatMap(\.points)
      let edge: LayoutGraph.Edge = graph.edges[number]
      let isTurned: Bool = columns.column(ofNode: edge.from.node) > columns.column(ofNode: edge.to.node)
      return Self.simplified(isTurned ? points.reversed() : points)
    }
  }

  /// Without points in the midst of a straight piece.
  private static func simplified(_ points: [GraphLayout.Point]) -> [GraphLayout.Point] {
    var result: [GraphLayout.Point] = []
    for point in points where result.last != point {
      if result.count > 1 {
        let (first, second) = (result[result.count - 2], result[result.count - 1])
        if first.x == second.x && second.x == point.x || first.y == second.y && second.y == point.y {
          result[result.count - 1] = point
          continue
        }
      }
      result.append(point)
    }
    return result
  }

  private mutating func moveToOrigin() {
    let points: [GraphLayout.Point] = routes.flatMap { $0 }
    let left: Int = (frames.map(\.x) + points.map(\.x)).min() ?? 0
    let top: Int = (frames.map(\.y) + points.map(\.y)).min() ?? 0
    width = ((frames.map(\.right) + points.map(\.x)).max() ?? left) - left
    height = ((frames.map(\.bottom) + points.map(\.y)).max() ?? top) - top
    for number in frames.indices {
      frames[number].x -= left
      frames[number].y -= top
    }
    for number in routes.indices {
      routes[number] = routes[number].map { GraphLayout.Point(x: $0.x - left, y: $0.y - top) }
    }
  }
}
