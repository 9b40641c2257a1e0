extension ModelDrawing {
  /// As a graph in the language of Graphviz, which lays it out: `dot -Tsvg Shop.dot`.
  package var dot: String {
    var lines: [String] = [
      "// \(Self.mark)",
      "digraph \(Self.quoted(title)) {",
      "  graph [rankdir=LR, nodesep=0.4, ranksep=1.2]",
      "  node [shape=plain, fontname=\"Helvetica\", fontsize=11]",
      "  edge [color=\"#3b6ea5\"]",
    ]
    for (number, box) in diagram.boxes.enumerated() {
      lines.append("  n\(number) [label=<\(Self.table(box))>]")
    }
    for line in diagram.lines {
      switch line.kind {
      case .inheritance:
        // What stands first is put at the left: parents, and owners.
        lines.append(Self.edge(line.to, line.from) + " [dir=back, arrowtail=onormal, color=\"#7c6f9c\"]")
      case .relationship(let isToMany, let backIsToMany):
        let there: String = isToMany ? "normalnormal" : "normal"
        let back: String = backIsToMany.map { $0 ? "normalnormal" : "normal" } ?? "none"
        lines.append(
          line.isTurned
            ? Self.edge(line.to, line.from) + " [dir=both, arrowhead=\(back), arrowtail=\(there)]"
            : Self.edge(line.from, line.to) + " [dir=both, arrowhead=\(there), arrowtail=\(back)]")
      }
    }
    lines += ["}", ""]
    return lines.joined(separator: "\n")
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  private typealias End = (box: Int, row: Int?)

  /// From the right side of one end to the left side of the other.
  private static func edge(_ left: End, _ right: End) -> String {
    "  n\(left.box):\(left.row.map { "e\($0)" } ?? "h"):e -> n\(right.box):\(right.row.map { "r\($0)" } ?? "h"):w"
  }

  private static func table(_ box: Diagram.Box) -> String {
    let colour: String = box.isAbstract ? "#eef0f3" : "#e3edfb"
    let border: String = "#94a3b8"
    let name: String = escaped(DiagramLayout.title(of: box))
    var text: String =
      #"<table border="0" cellborder="1" cellspacing="0" cellpadding="4" color="\#(border)">"#
      + #"<tr><td port="h" colspan="3" bgcolor="\#(colour)"><b>\#(box.isAbstract ? "<i>\(name)</i>" : name)</b></td></tr>"#
    for (number, row) in box.rows.enumerated() {
      let indent: String = row.kind == .element ? "  " : ""
      var own: String = escaped(row.name)
      if row.isUnique { own = "<u>\(own)</u>" }
      if row.isTransient || row.kind == .fetchedProperty { own = "<i>\(own)</i>" }
      text +=
        #"<tr><td port="r\#(number)" align="left">\#(indent)\#(own)</td>"#
        + #"<td align="left">\#(escaped(row.type))</td><td port="e\#(number)" align="left">\#(row.rule.isEmpty ? " " : row.rule)</td></tr>"#
    }
    return text + "</table>"
  }
}
