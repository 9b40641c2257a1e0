import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelDrawing

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Pictures of models: what may not overlap.
struct GraphLayoutTests {
  /// What is wrong with a layout; empty if nothing is.
  private func faults(_ layout: DiagramLayout) -> [String] {
    var faults: [String] = []
    let (boxes, frames) = (layout.diagram.boxes, layout.frames)
    for (number, one) in frames.enumerated() {
      if one.width < DiagramLayout.width(of: boxes[number])
        || one.height != DiagramLayout.height(of: boxes[number])
      {
        faults.append("\(boxes[number].name) has another size than its text needs")
      }
      if one.x < 0 || one.y < 0 || one.right > layout.width || one.bottom > layout.height {
        faults.append("\(boxes[number].name) is outside of the picture")
      }
      for other in (number + 1)..<frames.count where touches(one, frames[other], gap: 8) {
        faults.append("\(boxes[number].name) and \(boxes[other].name) overlap")
      }
    }
    var pieces: [Piece] = []
    for (number, line) in layout.diagram.lines.enumerated() {
      let route: [GraphLayout.Point] = layout.routes[number]
      let label: String = "\(boxes[line.from.box].name) – \(boxes[line.to.box].name)"
      guard route.count > 1 else {
        faults.append("\(label) has no route")
        continue
      }
      faults += endFaults(route[0], line.from, route[1], frames, boxes).map { "\(label) begins \($0)" }
      faults += endFaults(route[route.count - 1], line.to, route[route.count - 2], frames, boxes)
        .map { "\(label) ends \($0)" }
      for (from, to) in zip(route, route.dropFirst()) {
        if (from.x == to.x) == (from.y == to.y) { faults.append("\(label) is not at right angles") }
        let piece = Piece(line: number, from: from, to: to)
        for (box, frame) in frames.enumerated() where piece.crosses(frame) {
          faults.append("\(label) crosses \(boxes[box].name)")
        }
        pieces.append(piece)
      }
    }
    return faults + overlaps(pieces, layout)
  }

  private func endFaults(
    _ point: GraphLayout.Point, _ end: (box: Int, row: Int?), _ next: GraphLayout.Point,
    _ frames: [GraphLayout.Frame], _ boxes: [Diagram.Box]
  ) -> [String] {
    let frame: GraphLayout.Frame = frames[end.box]
    var faults: [String] = []
    if point.x != frame.x && point.x != frame.right { faults.append("beside its box") }
    if let row = end.row {
      let middle: Int = frame.y + DiagramLayout.middle(ofRow: row, in: boxes[end.box])
      if abs(point.y - middle) > 4 { faults.append("beside its row") }
    } else if !(frame.y + 4...frame.y + DiagramLayout.Size.header - 4).contains(point.y) {
      faults.append("beside its header")
    }
    // There is room for two arrowheads.
    if point.y != next.y || abs(point.x - next.x) < 18 { faults.append("without room for its mark") }
    return faults
  }

  private func touches(_ one: GraphLayout.Frame, _ other: GraphLayout.Frame, gap: Int) -> Bool {
    one.x < other.right + gap && other.x < one.right + gap && one.y < other.bottom + gap
      && other.y < one.bottom + gap
  }

  private struct Piece {
    let line: Int
    let from: GraphLayout.Point
    let to: GraphLayout.Point
    var left: Int { min(from.x, to.x) }
    var right: Int { max(from.x, to.x) }
    var top: Int { min(from.y, to.y) }
    var bottom: Int { max(from.y, to.y) }
    var isHorizontal: Bool { from.y == to.y }

    /// Its ends touch boxes, its inside runs through none.
    func crosses(_ frame: GraphLayout.Frame) -> Bool {
      left < frame.right && right > frame.x && top < frame.bottom && bottom > frame.y
    }

    /// Parallel, on one another or nearly so.
    func lies(on other: Piece) -> Bool {
      guard isHorizontal == other.isHorizontal else { return false }
      return isHorizontal
        ? abs(top - other.top) < 5 && left < other.right && other.left < right
        : abs(left - other.left) < 5 && top < other.bottom && other.top < bottom
    }
  }

  /// Lines lie on one another only where they lead to the same place of a header.
  private func overlaps(_ pieces: [Piece], _ layout: DiagramLayout) -> [String] {
    func ends(_ line: Int) -> Set<GraphLayout.Point> {
      [layout.routes[line].first, layout.routes[line].last].reduce(into: []) { set, point in
        if let point { set.insert(point) }
      }
    }
    var faults: [String] = []
    for (number, one) in pieces.enumerated() {
      for other in pieces[(number + 1)...] where one.line != other.line && one.lies(on: other) {
        if ends(one.line).isDisjoint(with: ends(other.line)) {
          faults.append("lines \(one.line) and \(other.line) lie on one another")
        }
      }
    }
    return faults
  }

  private static func diagram(_ build: (inout ModelDraft) -> Void) -> Diagram {
    Diagram(ModelDraft.make(build))
  }

  // MARK: Models

  @Test func `owners stand left of what they own, parents left of their children`() throws {
    let diagram: Diagram = Self.diagram { draft in
      draft.entity("Zoo", Draft.attribute("name"))
      draft.entity("Animal", Draft.attribute("name"))
      draft.entity("Bird", parent: "Animal", Draft.attribute("span", .doubleAttributeType))
      draft.relate("Zoo", "animals", "Animal", "zoo", toMany: true, backToMany: false)
    }
    let layout = DiagramLayout(diagram)
    #expect(faults(layout) == [])
    #expect(diagram.boxes.map(\.name) == ["Animal", "Bird", "Zoo"])
    #expect(layout.frames[2].right < layout.frames[0].x)
    #expect(layout.frames[0].right < layout.frames[1].x)
    #expect(
      diagram.lines.map(\.kind) == [.inheritance, .relationship(isToMany: false, backIsToMany: true)])
  }

  @Test func `relationships to itself, to its own inverse and without an inverse have lines`() throws {
    let diagram: Diagram = Self.diagram { draft in
      draft.entity("Person", Draft.attribute("name"), Draft.to("friends", toMany: true), Draft.to("best"))
      draft.relate("Person", "parent", "Person", "children", toMany: false, backToMany: true)
      let friends = draft["Person"].relationshipsByName["friends"]!
      friends.destinationEntity = draft["Person"]
      friends.inverseRelationship = friends
      draft["Person"].relationshipsByName["best"]!.destinationEntity = draft["Person"]
    }
    #expect(diagram.lines.count == 3)
    #expect(faults(DiagramLayout(diagram)) == [])
  }

  @Test func `rows say type, cardinality and rule`() throws {
    let diagram: Diagram = Self.diagram { draft in
      let item = draft.entity(
        "Item", Draft.attribute("title", required: true), Draft.attribute("price", .decimalAttributeType),
        Draft.composite("place", Draft.attribute("street"), Draft.attribute("town", required: true)))
      item.uniquenessConstraints = [["title"]]
      draft.entity("Tag")
      draft.relate("Item", "tags", "Tag", "item", toMany: true, backToMany: false)
      let (tags, back) = (item.relationshipsByName["tags"]!, draft["Tag"].relationshipsByName["item"]!)
      tags.isOrdered = true
      tags.maxCount = 5
      tags.minCount = 1
      tags.deleteRule = .cascadeDeleteRule
      back.isOptional = false
    }
    let rows: [String] = diagram.boxes.flatMap { box in
      box.rows.map { "\(box.name) \($0.name) \($0.type) \($0.rule)\($0.isUnique ? "unique" : "")" }
    }
    #expect(
      rows == [
        "Item place Composite? ", "Item street String? ", "Item town String ", "Item price Decimal? ",
        "Item title String unique", "Item tags Tag 1..5, ordered cascade", "Tag item Item 1 nullify",
      ])
  }

  /// The seed is printed; every box has its lines to any others.
  @Test func `in random graphs nothing overlaps`() throws {
    var crowded: Int = 0
    for seed in UInt64(1)...60 {
      var random = SeededRandom(seed: seed)
      let count: Int = Int.random(in: 1...24, using: &random)
      let diagram: Diagram = Self.diagram { draft in
        for number in 0..<count {
          let attributes: Int = Int.random(in: 0...9, using: &random)
          draft.entity("E\(number)")
          draft["E\(number)"].properties = (0..<attributes).map { Draft.attribute("attribute\($0)") }
          if number > 0, Int.random(in: 0..<4, using: &random) == 0 {
            draft["E\(Int.random(in: 0..<number, using: &random))"].subentities.append(draft["E\(number)"])
          }
        }
        for line in 0..<Int.random(in: 0...(2 * count), using: &random) {
          let owner = "E\(Int.random(in: 0..<count, using: &random))"
          let other = "E\(Int.random(in: 0..<count, using: &random))"
          if Int.random(in: 0..<5, using: &random) == 0 {
            let lonely = Draft.to("lonely\(line)")
            lonely.destinationEntity = draft[other]
            draft[owner].properties.append(lonely)
          } else {
            draft.relate(
              owner, "there\(line)", other, "back\(line)", toMany: .random(using: &random),
              backToMany: .random(using: &random))
          }
        }
      }
      if diagram.lines.count > 20 { crowded += 1 }
      #expect(faults(DiagramLayout(diagram)) == [], "seed \(seed)")
    }
    #expect(crowded > 5)
  }

  @Test func `text of any kind is drawn as XML, and in bounds`() throws {
    let names = ["a<b>&\"'", "line\nbreak\u{0}", String(repeating: "W", count: 5000), "漢字かな", "👩‍👩‍👧‍👦 é", ""]
    let diagram: Diagram = Self.diagram { draft in
      for name in names { draft.entity(name, Draft.attribute(name)) }
    }
    let drawing = ModelDrawing(diagram, title: names.joined())
    #expect(faults(DiagramLayout(diagram)) == [])
    #expect(try XMLTexts.read(drawing.svg).contains("a<b>&\"'"))
    #expect(!drawing.svg.contains("\u{0}") && drawing.svg.utf8.count < 40_000)
    #expect(drawing.dot.contains("a&lt;b&gt;&amp;&quot;'"))
  }

  @Test func `the order in which a model lists its parts does not change its picture`() throws {
    func drawing(_ isTurned: Bool) -> ModelDrawing {
      let model: NSManagedObjectModel = PeopleModel.make()
      if isTurned {
        for entity in model.entities { entity.properties = entity.ownProperties.reversed() }
        model.entities = model.entities.reversed()
      }
      return ModelDrawing(Diagram(model), title: "People")
    }
    #expect(drawing(false).svg == drawing(true).svg)
    #expect(drawing(false).dot == drawing(true).dot)
  }

  @Test func `a hub with sixty neighbours becomes no tower`() throws {
    let diagram: Diagram = Self.diagram { draft in
      draft.entity("Hub")
      for number in 0..<60 {
        draft.entity("Leaf\(number)", Draft.attribute("name"), Draft.attribute("value"))
        draft.relate("Hub", "leaf\(number)", "Leaf\(number)", "hub", toMany: false, backToMany: false)
      }
    }
    let layout = DiagramLayout(diagram)
    #expect(faults(layout) == [])
    #expect(
      layout.height < 3 * layout.width && layout.width < 3 * layout.height,
      "\(layout.width) × \(layout.height)")
  }

  // MARK: Real models

  /// One version of each package, and with `CLARUS_SOAK` all.
  @Test(.enabled(if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"))
  func `in pictures of real models nothing overlaps, and they are equal byte for byte`() throws {
    var counts = (models: 0, boxes: 0, lines: 0)
    var packages: Set<String> = []
    for url in FixtureFolder.find(["xcdatamodel"], under: "models")
      + FixtureFolder.find(["mom"], under: "mom")
    {
      let isFirst: Bool = packages.insert(url.deletingLastPathComponent().path).inserted
      guard isFirst || Soak.isOn, let model = try? NSManagedObjectModel.load(contentsOf: url).model else {
        continue
      }
      let diagram = Diagram(model)
      #expect(faults(DiagramLayout(diagram)) == [], "\(FixtureFolder.relative(url))")
      counts.models += 1
      counts.boxes += diagram.boxes.count
      counts.lines += diagram.lines.count
      guard isFirst else { continue }
      let again = Diagram(try NSManagedObjectModel.load(contentsOf: url).model)
      #expect(ModelDrawing(diagram, title: "a").svg == ModelDrawing(again, title: "a").svg)
    }
    print("models drawn: \(counts)")
    if Soak.isOn { #expect(counts.models == 227 && counts.boxes == 3961 + 59) }
    #expect(counts.models > 40)
  }
}

/// The texts of an XML document.
private final class XMLTexts: NSObject, XMLParserDelegate {
  private var texts: [String] = []
  private var text: String = ""

  static func read(_ xml: String) throws -> [String] {
    let parser = XMLParser(data: Data(xml.utf8))
    let texts = XMLTexts()
    parser.delegate = texts
    try #require(parser.parse(), "\(String(describing: parser.parserError))")
    return texts.texts
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

  func parser(
    _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
  ) {
    texts.append(text.trimmingCharacters(in: .whitespacesAndNewlines))
    text = ""
  }
}
