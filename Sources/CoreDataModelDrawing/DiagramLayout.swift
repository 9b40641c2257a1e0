/// The boxes and lines of a diagram with their places, and those of all text.
package struct DiagramLayout: Sendable {
  /// The sizes of a box's parts, in pixels.
  package enum Size {
    package static let header: Int = 32
    package static let row: Int = 20
    /// Above the first and below the last row, and between attributes and relationships.
    package static let padding: Int = 7
    package static let side: Int = 12
    /// Between the name and the type, and between the type and the rule.
    package static let gap: Int = 16
    package static let ruleGap: Int = 10
    package static let indent: Int = 12
    package static let title: Int = 14
    package static let text: Int = 12
    package static let rule: Int = 10
    package static let leastWidth: Int = 150
  }

  package let diagram: Diagram
  package let frames: [GraphLayout.Frame]
  /// Of the diagram's lines, from `from` to `to`.
  package let routes: [[GraphLayout.Point]]
  package let width: Int
  package let height: Int

  package init(_ diagram: Diagram) {
    self.diagram = diagram
    let ports = HeaderPorts(diagram)
    func port(_ end: (box: Int, row: Int?), _ use: HeaderPorts.Use, shift: Int = 0) -> LayoutGraph.Port {
      guard let row = end.row else { return ports.port(end.box, use) }
      return LayoutGraph.Port(
        node: end.box, number: 4 + 2 * row + (shift > 0 ? 1 : 0),
        offset: Self.middle(ofRow: row, in: diagram.boxes[end.box]) + shift)
    }
    // Edges lead from the box that stands at the left, if that is possible; lines may lead the other way.
    let edges: [LayoutGraph.Edge] = diagram.lines.map { line in
      switch line.kind {
      case .inheritance:
        return LayoutGraph.Edge(
          from: port(line.to, .children), to: port(line.from, .parent), isStrict: true)
      case .relationship:
        // A relationship that is its own inverse leaves its row and comes back to it.
        let shift: Int = line.from == line.to ? 4 : 0
        let (from, to) = (port(line.from, .target, shift: -shift), port(line.to, .target, shift: shift))
        return line.isTurned ? LayoutGraph.Edge(from: to, to: from) : LayoutGraph.Edge(from: from, to: to)
      }
    }
    let layout = GraphLayout(
      LayoutGraph(
        nodes: diagram.boxes.map { LayoutGraph.Node(width: Self.width(of: $0), height: Self.height(of: $0)) },
        edges: edges))
    frames = layout.frames
    routes = zip(diagram.lines, layout.routes).map { $0.isTurned ? $1.reversed() : $1 }
    width = layout.width
    height = layout.height
  }

  // MARK: Boxes

  package static func width(of box: Diagram.Box) -> Int {
    var width: Int = max(
      Size.leastWidth, TextWidth.width(title(of: box), size: Size.title, isBold: true) + 2 * Size.side)
    for row in box.rows {
      var parts: Int = 2 * Size.side + TextWidth.width(row.name, size: Size.text) + Size.gap
      parts += TextWidth.width(row.type, size: Size.text)
      if row.kind == .element { parts += Size.indent }
      if row.kind == .relationship { parts += Size.ruleGap + ruleWidth }
      width = max(width, parts)
    }
    // Even numbers have a middle.
    return (width + 1) / 2 * 2
  }

  /// The rules stand under one another.
  package static let ruleWidth: Int = TextWidth.width("no action", size: Size.rule)

  /// An abstract entity says so.
  package static func title(of box: Diagram.Box) -> String {
    box.isAbstract ? "\(box.name) (abstract)" : box.name
  }

  private static func hasSeparator(beforeRow row: Int, in box: Diagram.Box) -> Bool {
    func section(_ kind: Diagram.Row.Kind) -> Int {
      switch kind {
      case .attribute, .element: 0
      case .relationship: 1
      case .fetchedProperty: 2
      }
    }
    return row > 0 && section(box.rows[row].kind) != section(box.rows[row - 1].kind)
  }

  /// The rows before which a line is drawn.
  package static func separators(in box: Diagram.Box) -> [Int] {
    box.rows.indices.filter { hasSeparator(beforeRow: $0, in: box) }
  }

  /// Below the top of the box.
  package static func middle(ofRow row: Int, in box: Diagram.Box) -> Int {
    let above: Int = separators(in: box).count { $0 <= row }
    return Size.header + Size.padding + row * Size.row + above * 2 * Size.padding + Size.row / 2
  }

  package static func height(of box: Diagram.Box) -> Int {
    guard let last = box.rows.indices.last else { return Size.header }
    return middle(ofRow: last, in: box) + Size.row / 2 + Size.padding
  }
}

/// Where lines touch the headers of boxes: those to the parent, from the children, and from relationships
/// without an inverse, as far as the box has them.
private struct HeaderPorts {
  enum Use: Int { case parent, children, target }

  private var uses: [[Bool]]

  init(_ diagram: Diagram) {
    uses = Array(repeating: [false, false, false], count: diagram.boxes.count)
    for line in diagram.lines {
      switch line.kind {
      case .inheritance:
        uses[line.from.box][Use.parent.rawValue] = true
        uses[line.to.box][Use.children.rawValue] = true
      case .relationship: if line.to.row == nil { uses[line.to.box][Use.target.rawValue] = true }
      }
    }
  }

  func port(_ box: Int, _ use: Use) -> LayoutGraph.Port {
    let count: Int = uses[box].count { $0 }
    let place: Int = uses[box][..<use.rawValue].count { $0 }
    let offset: Int = DiagramLayout.Size.header / 2 + (2 * place - (count - 1)) * 5
    return LayoutGraph.Port(node: box, number: use.rawValue, offset: offset, isShared: use != .parent)
  }
}
