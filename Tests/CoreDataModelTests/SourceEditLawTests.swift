import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelEditing

/// Random edits of sources: whatever is edited, the other lines stay as they are, byte for byte.
///
/// - An attribute that is set or removed changes one line.
/// - A child that is inserted adds one line; into an element without content, which had one line, two more.
/// - A child that is removed takes its own lines, and if it was the last one those of its parent's content.
/// - Setting back, or removing what was inserted, gives the bytes from before.
///
/// `CLARUS_SEED` repeats a run; `make soak` edits every real source.
struct SourceEditLawTests {
  private struct Edit {
    /// The places of the elements in their parents' contents, from the root.
    var path: [Int]
    var description: String
    var apply: (inout SourceElement) -> Void
    /// nil where the edit loses what nothing else knows: the place of a removed part.
    var revert: ((inout SourceElement) -> Void)?
    /// How many lines go, and how many come.
    var removed: Int
    var added: Int
  }

  private static func change(
    _ element: inout SourceElement, at path: ArraySlice<Int>, _ body: (inout SourceElement) -> Void
  ) {
    guard let place = path.first else { return body(&element) }
    var child: SourceElement = element[at: place]
    change(&child, at: path.dropFirst(), body)
    element[at: place] = child
  }

  private static func element(_ root: SourceElement, at path: ArraySlice<Int>) -> SourceElement {
    path.reduce(root) { $0[at: $1] }
  }

  // MARK: Choosing

  private static let values: [String] = ["", "x", "NO", "a \"b\" & <c>", "é\n\t", "\u{1F600}'", "12"]

  private static func edit(_ root: SourceElement, _ style: SourceStyle, _ random: inout SeededRandom) -> Edit
  {
    var path: [Int] = []
    var element: SourceElement = root
    while let place = element.content.indices.filter({ element.content[$0].element != nil })
      .randomElement(using: &random), path.isEmpty || Int.random(in: 0..<4, using: &random) > 0
    {
      path.append(place)
      element = element[at: place]
    }
    let places: [Int] = element.content.indices.filter { element.content[$0].element != nil }
    let depth: Int = path.count + 1
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1:
      guard let attribute = element.attributes.randomElement(using: &random) else { break }
      // One that is set to itself changes nothing.
      let others: [String] = values.filter { $0 != attribute.value }
      let value: String = others.randomElement(using: &random) ?? "y"
      return Edit(
        path: path, description: "set \(attribute.name) of \(element.name)",
        apply: { $0.set(attribute.name, value) }, revert: { $0.set(attribute.name, attribute.value) },
        removed: 1, added: 1)
    case 2:
      guard let attribute = element.attributes.randomElement(using: &random) else { break }
      return Edit(
        path: path, description: "remove \(attribute.name) of \(element.name)",
        apply: { $0.set(attribute.name, nil) }, revert: nil, removed: 1, added: 1)
    case 3:
      guard let place = places.randomElement(using: &random) else { break }
      let lines: Int = lines(element[at: place].text)
      let isLast: Bool =
        element.content.count { !$0.isWhitespace } == 1
      return Edit(
        path: path, description: "remove \(element[at: place].name) of \(element.name)",
        apply: { $0.remove(at: place) }, revert: nil, removed: lines + (isLast ? 2 : 0), added: isLast ? 1 : 0
      )
    default: break
    }
    let kind: String = ["entity", "attribute", "userInfo", "future"].randomElement(using: &random) ?? ""
    let name = "inserted\(Int.random(in: 0...9, using: &random))"
    let isEmpty: Bool = element.content.isEmpty
    let child = SourceElement(kind, ["name": name])
    return Edit(
      path: path, description: "insert \(kind) into \(element.name)",
      apply: { $0.insert(child, style, depth: depth) },
      revert: { edited in
        if let place = edited.content.firstIndex(where: { $0.element == child }) { edited.remove(at: place) }
      },
      removed: isEmpty ? 1 : 0, added: isEmpty ? 3 : 1)
  }

  private static func lines(_ text: String) -> Int { text.utf8.count { $0 == UInt8(ascii: "\n") } + 1 }

  // MARK: The laws

  private static func check(_ data: Data, _ file: String, edits: Int, _ random: inout SeededRandom) throws {
    var document = try ModelDocument(data, file: file)
    var before: Data = document.data
    for _ in 0..<edits {
      let edit: Edit = edit(document.root, document.style, &random)
      let start: ModelDocument = document
      change(&document.root, at: edit.path[...], edit.apply)
      let after: Data = document.data
      let (old, new) = (split(before), split(after))
      var head: Int = 0
      while head < min(old.count, new.count), old[head] == new[head] { head += 1 }
      var tail: Int = 0
      while tail < min(old.count, new.count) - head, old[old.count - 1 - tail] == new[new.count - 1 - tail] {
        tail += 1
      }
      let place = "\(file): \(edit.description), line \(head + 1)"
      #expect(old.count - head - tail == edit.removed, "\(place)")
      #expect(new.count - head - tail == edit.added, "\(place)")
      // What was written reads to the same document.
      #expect(try ModelDocument(after, file: file).data == after, "\(place)")
      if let revert = edit.revert {
        var reverted: ModelDocument = document
        change(&reverted.root, at: edit.path[...], revert)
        #expect(reverted.data == before, "\(place)")
        // Half of the edits are taken back, so that sources keep their form.
        if random.next() % 2 == 0 { document = start }
      }
      before = document.data
    }
  }

  private static func split(_ data: Data) -> [Data] {
    data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  }

  private static let seeds: [UInt64] = Seed.given.map { [$0] } ?? (Soak.isOn ? Array(1...5) : [7, 8])

  @Test(arguments: seeds) func `an edit changes the lines that it concerns, and no other`(seed: UInt64) throws
  {
    print("seed \(seed)")
    var random = SeededRandom(seed: seed)
    let shop: URL = SourceModelTests.shop
    let packages: [URL] = try FileManager.default.contentsOfDirectory(
      at: shop, includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "xcdatamodel" }.sorted { $0.path < $1.path }
    #expect(!packages.isEmpty)
    for package in packages {
      let data = try Data(contentsOf: package.appendingPathComponent("contents"))
      try Self.check(data, package.lastPathComponent, edits: 150, &random)
    }
    guard FixtureFolder.isPresent else { return }
    var count: Int = 0
    for (number, url) in FixtureFolder.find(["xcdatamodel"], under: "models").enumerated() {
      guard Soak.isOn || number % 20 == Int(seed % 20),
        let data = try? Data(contentsOf: url.appendingPathComponent("contents"))
      else { continue }
      try Self.check(data, FixtureFolder.relative(url), edits: Soak.isOn ? 60 : 10, &random)
      count += 1
    }
    print("edited sources: \(count)")
  }
}
