// The colours are light, and the background is painted, so that the picture can be read on dark pages too.
private enum Colour {
  static let background = "#ffffff"
  static let box = "#ffffff"
  static let border = "#94a3b8"
  static let header = "#e3edfb"
  static let abstractHeader = "#eef0f3"
  static let separator = "#dbe2ea"
  static let title = "#0f2a4a"
  static let name = "#1f2937"
  static let type = "#64748b"
  static let inheritance = "#7c6f9c"
  static let rules: [String: String] = ["cascade": "#c2410c", "deny": "#a16207", "no action": "#b91c1c"]
  /// Neighbouring lines have different ones, so that the eye can follow them.
  static let lines: [String] = ["#3b6ea5", "#2f855a", "#8a5a9e", "#b0652b", "#3f7f8c", "#8c5060"]
}

extension ModelDrawing {
  private static let margin: Int = 24

  /// As an SVG image.
  package var svg: String {
    let layout = DiagramLayout(diagram)
    let (width, height) = (layout.width + 2 * Self.margin, layout.height + 2 * Self.margin)
    var lines: [String] = [
      #"<svg xmlns="http://www.w3.org/2000/svg" width="\#(width)" height="\#(height)" viewBox="0 0 \#(width) \#(height)""#
        + #" font-family="-apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif" font-size="\#(DiagramLayout.Size.text)">"#,
      "<!-- \(Self.mark) -->",
      "<title>\(Self.escaped(title))</title>",
      #"<rect width="\#(width)" height="\#(height)" fill="\#(Colour.background)"/>"#,
      #"<g transform="translate(\#(Self.margin) \#(Self.margin))">"#,
    ]
    var svg = SVGLines()
    for (number, line) in diagram.lines.enumerated() {
      svg.add(line, layout.routes[number], diagram)
    }
    lines += svg.paths + svg.marks
    for (box, frame) in zip(diagram.boxes, layout.frames) { lines += Self.svg(box, frame) }
    lines += ["</g>", "</svg>", ""]
    return lines.joined(separator: "\n")
  }

  // MARK: Boxes

  private static func svg(_ box: Diagram.Box, _ frame: GraphLayout.Frame) -> [String] {
    typealias Size = DiagramLayout.Size
    let fill: String = box.isAbstract ? Colour.abstractHeader : Colour.header
    let (left, right, top) = (frame.x, frame.right, frame.y)
    var lines: [String] = [
      #"<rect x="\#(left)" y="\#(top)" width="\#(frame.width)" height="\#(frame.height)" rx="6" fill="\#(Colour.box)" stroke="\#(Colour.border)"/>"#
    ]
    let headerEnd: Int = top + Size.header
    lines.append(
      box.rows.isEmpty
        ? #"<rect x="\#(left)" y="\#(top)" width="\#(frame.width)" height="\#(frame.height)" rx="6" fill="\#(fill)" stroke="\#(Colour.border)"/>"#
        : #"<path d="M\#(left) \#(headerEnd)V\#(top + 6)a6 6 0 0 1 6 -6H\#(right - 6)a6 6 0 0 1 6 6V\#(headerEnd)z" fill="\#(fill)" stroke="\#(Colour.border)"/>"#
    )
    let italic: String = box.isAbstract ? #" font-style="italic""# : ""
    lines.append(
      #"<text x="\#(left + frame.width / 2)" y="\#(top + 21)" text-anchor="middle" font-size="\#(Size.title)" font-weight="bold" fill="\#(Colour.title)"\#(italic)>\#(escaped(DiagramLayout.title(of: box)))</text>"#
    )
    for row in DiagramLayout.separators(in: box) {
      let y: Int = top + DiagramLayout.middle(ofRow: row, in: box) - Size.row / 2 - Size.padding
      lines.append(#"<path d="M\#(left) \#(y)H\#(right)" stroke="\#(Colour.separator)"/>"#)
    }
    for (number, row) in box.rows.enumerated() {
      lines += svg(row, y: top + DiagramLayout.middle(ofRow: number, in: box) + 4, left, right)
    }
    return lines
  }

  private static func svg(_ row: Diagram.Row, y: Int, _ left: Int, _ right: Int) -> [String] {
    typealias Size = DiagramLayout.Size
    let indent: Int = row.kind == .element ? Size.indent : 0
    var style: String = row.isUnique ? #" text-decoration="underline""# : ""
    if row.isTransient || row.kind == .fetchedProperty { style += #" font-style="italic""# }
    let isRelationship: Bool = row.kind == .relationship
    let typeEnd: Int = right - Size.side - (isRelationship ? Size.ruleGap + DiagramLayout.ruleWidth : 0)
    var lines: [String] = [
      #"<text x="\#(left + Size.side + indent)" y="\#(y)" fill="\#(Colour.name)"\#(style)>\#(escaped(row.name))</text>"#,
      #"<text x="\#(typeEnd)" y="\#(y)" text-anchor="end" fill="\#(Colour.type)">\#(escaped(row.type))</text>"#,
    ]
    if isRelationship {
      lines.append(
        #"<text x="\#(right - Size.side)" y="\#(y)" text-anchor="end" font-size="\#(Size.rule)" fill="\#(Colour.rules[row.rule] ?? Colour.border)">\#(row.rule)</text>"#
      )
    }
    return lines
  }
}

/// The lines between boxes, with the marks at their ends.
private struct SVGLines {
  private(set) var paths: [String] = []
  /// They are drawn over all lines.
  private(set) var marks: [String] = []
  private var count: Int = 0

  mutating func add(_ line: Diagram.Line, _ route: [GraphLayout.Point], _ diagram: Diagram) {
    guard route.count > 1 else { return }
    switch line.kind {
    case .inheritance:
      add(
        route, Colour.inheritance,
        "\(diagram.boxes[line.from.box].name) is a \(diagram.boxes[line.to.box].name)")
      triangle(at: route[route.count - 1], from: route[route.count - 2])
    case .relationship(let isToMany, let backIsToMany):
      let colour: String = Colour.lines[count % Colour.lines.count]
      count += 1
      add(route, colour, [line.from, line.to].map { Self.label($0, diagram) }.joined(separator: " – "))
      arrow(at: route[route.count - 1], from: route[route.count - 2], isDouble: isToMany, colour)
      if let backIsToMany { arrow(at: route[0], from: route[1], isDouble: backIsToMany, colour) }
    }
  }

  private static func label(_ end: (box: Int, row: Int?), _ diagram: Diagram) -> String {
    let box: Diagram.Box = diagram.boxes[end.box]
    return end.row.map { "\(box.name).\(box.rows[$0].name)" } ?? box.name
  }

  private mutating func add(_ route: [GraphLayout.Point], _ colour: String, _ label: String) {
    paths.append(
      #"<path d="\#(Self.path(route))" fill="none" stroke="\#(colour)" stroke-width="1.5"><title>\#(ModelDrawing.escaped(label))</title></path>"#
    )
  }

  /// With round corners.
  private static func path(_ route: [GraphLayout.Point]) -> String {
    var text: String = "M\(route[0].x) \(route[0].y)"
    for place in route.indices.dropFirst().dropLast() {
      let (before, corner, after) = (route[place - 1], route[place], route[place + 1])
      func step(_ other: GraphLayout.Point) -> (x: Int, y: Int, length: Int) {
        let (x, y) = (other.x - corner.x, other.y - corner.y)
        return (x.signum(), y.signum(), abs(x) + abs(y))
      }
      let (back, on) = (step(before), step(after))
      let radius: Int = min(6, back.length / 2, on.length / 2)
      text += "L\(corner.x + back.x * radius) \(corner.y + back.y * radius)"
      text += "Q\(corner.x) \(corner.y) \(corner.x + on.x * radius) \(corner.y + on.y * radius)"
    }
    let end: GraphLayout.Point = route[route.count - 1]
    return text + "L\(end.x) \(end.y)"
  }

  /// An arrowhead, or two of a line that leads to many.
  private mutating func arrow(
    at end: GraphLayout.Point, from other: GraphLayout.Point, isDouble: Bool, _ colour: String
  ) {
    let side: Int = (other.x - end.x).signum()
    for shift in isDouble ? [0, 7] : [0] {
      let x: Int = end.x + side * shift
      marks.append(
        #"<path d="M\#(x) \#(end.y)L\#(x + side * 9) \#(end.y - 4)V\#(end.y + 4)z" fill="\#(colour)"/>"#)
    }
  }

  /// The open triangle of inheritance.
  private mutating func triangle(at end: GraphLayout.Point, from other: GraphLayout.Point) {
    let side: Int = (other.x - end.x).signum()
    marks.append(
      #"<path d="M\#(end.x) \#(end.y)L\#(end.x + side * 12) \#(end.y - 6)V\#(end.y + 6)z" fill="\#(Colour.background)" stroke="\#(Colour.inheritance)" stroke-width="1.5"/>"#
    )
  }
}
