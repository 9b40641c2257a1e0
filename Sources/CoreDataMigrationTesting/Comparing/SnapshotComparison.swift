import CoreData

/// Compares the objects that a migration should have made with those that it made.
///
/// Objects are told apart by what they contain, then by what is at the ends of their relationships, and so on
/// (colour refinement): two stores are alike if they have as many objects of each kind. Ids do not matter.
struct SnapshotComparison {
  private(set) var objectCount: Int = 0
  private(set) var valueCount: Int = 0
  private(set) var linkCount: Int = 0
  private(set) var differences: [String] = []

  private let outline: MappingOutline
  private let expected: Side
  private let found: Side
  /// More differences of one store help nobody.
  private static let most: Int = 50

  init(expected: StoreSnapshot, found: StoreSnapshot, _ outline: MappingOutline) {
    self.outline = outline
    var colours = Colours()
    self.expected = Side(expected, outline, &colours)
    self.found = Side(found, outline, &colours)
    run(&colours)
  }

  private mutating func run(_ colours: inout Colours) {
    let first: ([Int], [Int]) = (expected.initial, found.initial)
    var (left, right) = first
    var count: Int = Set(left + right).count
    while true {
      let next: ([Int], [Int]) = (expected.refined(left, &colours), found.refined(right, &colours))
      let classes: Int = Set(next.0 + next.1).count
      (left, right) = next
      if classes <= count { break }
      count = classes
    }
    countUp()
    if left.filter({ $0 >= 0 }).sorted() == right.filter({ $0 >= 0 }).sorted() { return }
    compareCounts()
    let pairs: [Int: Int] = pair(first.0, first.1, left, right)
    compareValues(pairs)
    compareLinks(pairs)
    if differences.isEmpty {
      differences.append("The relationships of objects with equal values are not those of the old store.")
    }
    if differences.count > Self.most {
      differences = differences.prefix(Self.most) + ["And \(differences.count - Self.most) more."]
    }
  }

  private mutating func countUp() {
    for place in found.nodes.indices where found.isComparable[place] {
      objectCount += 1
      valueCount += found.texts[place].count
      linkCount += found.links[place].reduce(0) { $0 + $1.members.count }
    }
  }

  private mutating func compareCounts() {
    for entity in outline.comparable.sorted() {
      let wanted: Int = expected.nodes.count { $0.entity == entity }
      let given: Int = found.nodes.count { $0.entity == entity }
      if wanted != given { differences.append("\(entity) has \(given) objects in place of \(wanted).") }
    }
  }

  // MARK: Pairs

  /// Which found object is which expected one: equal in everything, else equal in values, else with the most
  /// equal values.
  private func pair(_ left: [Int], _ right: [Int], _ leftEnd: [Int], _ rightEnd: [Int]) -> [Int: Int] {
    var pairs: [Int: Int] = [:]
    var taken: Set<Int> = []
    for (mine, theirs) in [(leftEnd, rightEnd), (left, right)] {
      var free: [Int: [Int]] = [:]
      for place in theirs.indices.reversed() where !taken.contains(place) && found.isComparable[place] {
        free[theirs[place], default: []].append(place)
      }
      for place in mine.indices where pairs[place] == nil {
        guard let other = free[mine[place]]?.popLast() else { continue }
        pairs[place] = other
        taken.insert(other)
      }
    }
    for place in left.indices where pairs[place] == nil {
      let rest: [Int] = found.nodes.indices.filter { other in
        !taken.contains(other) && found.nodes[other].entity == expected.nodes[place].entity
      }
      guard let best = rest.max(by: { likeness(place, $0) < likeness(place, $1) }) else { continue }
      pairs[place] = best
      taken.insert(best)
    }
    return pairs
  }

  private func likeness(_ place: Int, _ other: Int) -> Int {
    zip(expected.texts[place], found.texts[other]).count { $0 == $1 }
      + (expected.nodes[place].name == found.nodes[other].name ? 1 : 0)
  }

  private mutating func compareValues(_ pairs: [Int: Int]) {
    for (place, node) in expected.nodes.enumerated() {
      guard let other = pairs[place] else {
        differences.append("\(node.name) of the old store is not in the new one, as \(node.entity).")
        continue
      }
      for (number, path) in outline.paths(of: node.entity).enumerated() {
        let (wanted, given) = (expected.texts[place][number], found.texts[other][number])
        if wanted == given { continue }
        differences.append(
          "\(found.nodes[other].name).\(path), made of \(node.name), is \(Self.short(given)) and should be "
            + "\(Self.short(wanted)).")
      }
    }
    let matched = Set(pairs.values)
    for (place, node) in found.nodes.enumerated() where found.isComparable[place] && !matched.contains(place)
    {
      differences.append("\(node.name) of the new store was made of no object of the old one.")
    }
  }

  private mutating func compareLinks(_ pairs: [Int: Int]) {
    for (place, node) in expected.nodes.enumerated() {
      guard let other = pairs[place] else { continue }
      for (mine, theirs) in zip(expected.links[place], found.links[other]) {
        let wanted: [Int] = mine.members.compactMap { pairs[$0] }
        let isEqual: Bool =
          mine.isOrdered
          ? wanted == theirs.members
          : wanted.sorted() == theirs.members.sorted()
        if isEqual { continue }
        func names(_ places: [Int]) -> String {
          places.isEmpty ? "none" : places.prefix(10).map { found.nodes[$0].name }.joined(separator: ", ")
        }
        differences.append(
          "\(found.nodes[other].name).\(mine.name), made of \(node.name), leads to \(names(theirs.members)) "
            + "and should lead to \(names(wanted)).")
      }
    }
  }

  private static func short(_ text: String) -> String {
    text.count <= 100 ? text : "\(text.prefix(100))… (\(text.count) characters)"
  }
}

/// Numbers for kinds of objects, the same for both sides.
private struct Colours {
  private var numbers: [String: Int] = [:]

  mutating func number(_ text: String) -> Int {
    if let known = numbers[text] { return known }
    numbers[text] = numbers.count
    return numbers.count - 1
  }
}

/// One of the two sets of objects, with what is compared of each.
private struct Side {
  struct Link {
    let name: String
    let isOrdered: Bool
    let members: [Int]
  }

  let nodes: [StoreSnapshot.Node]
  let isComparable: [Bool]
  /// In the order of the paths of the entity.
  let texts: [[String]]
  let links: [[Link]]
  /// A colour for each object, by its values.
  let initial: [Int]

  init(_ snapshot: StoreSnapshot, _ outline: MappingOutline, _ colours: inout Colours) {
    nodes = snapshot.nodes
    isComparable = nodes.map { outline.comparable.contains($0.entity) }
    let comparable: [Bool] = isComparable
    var (texts, links, initial): ([[String]], [[Link]], [Int]) = ([], [], [])
    for (place, node) in nodes.enumerated() {
      guard comparable[place] else {
        texts.append([])
        links.append([])
        initial.append(-1)
        continue
      }
      let leaves: [String: NSAttributeDescription] = outline.leaves[node.entity] ?? [:]
      let own: [String] = outline.paths(of: node.entity).map { path in
        CanonicalValue.text(node.values[path], as: leaves[path]?.attributeType ?? .undefinedAttributeType)
      }
      texts.append(own)
      links.append(
        outline.links(of: node.entity).sorted { $0.key < $1.key }.map { name, isOrdered in
          Link(
            name: name, isOrdered: isOrdered,
            members: (node.links[name] ?? []).filter { comparable[$0] })
        })
      initial.append(colours.number("\(node.entity)\u{1}" + own.joined(separator: "\u{1}")))
    }
    (self.texts, self.links, self.initial) = (texts, links, initial)
  }

  /// Colours that tell objects apart by those at the ends of their relationships too.
  func refined(_ colours: [Int], _ numbers: inout Colours) -> [Int] {
    nodes.indices.map { place in
      guard isComparable[place] else { return -1 }
      let ends: [String] = links[place].map { link in
        let members: [Int] = link.members.map { colours[$0] }
        return (link.isOrdered ? members : members.sorted()).map(String.init).joined(separator: ",")
      }
      return numbers.number("\u{2}\(colours[place])\u{1}" + ends.joined(separator: "\u{1}"))
    }
  }
}
