import CoreDataStorage
import Foundation

/// What `clarus diff` prints, written while the stores are compared.
struct DifferenceReport {
  let engines: (left: any StoreEngine, right: any StoreEngine)
  let correspondence: StoreCorrespondence
  let isJSON: Bool
  /// The entities whose objects correspond by values; those of others by their numbers.
  let matched: Set<String>

  /// Names that only one of the two models has.
  private struct OneSided {
    var left: [String] = []
    var right: [String] = []
    var isEmpty: Bool { left.isEmpty && right.isEmpty }

    init(_ left: Set<String>, _ right: Set<String>) {
      self.left = left.subtracting(right).sorted()
      self.right = right.subtracting(left).sorted()
    }

    var json: JSONText { .object([("onlyLeft", .strings(left)), ("onlyRight", .strings(right))]) }
  }

  /// Returns whether the stores are equal.
  func write() throws -> Bool {
    let entities = OneSided(
      Set(correspondence.entities.filter { $0.left != nil }.map(\.name)),
      Set(correspondence.entities.filter { $0.right != nil }.map(\.name)))
    let properties = OneSided(names(\.left), names(\.right))
    let output = StandardOutput()
    let progress = ProgressLine(beside: output)
    progress.begin("Comparing", total: 0)
    let comparison = StoreComparison(
      left: engines.left, right: engines.right, correspondence: correspondence
    ) { try progress.advance(by: $0) }
    let text = DifferenceText(left: engines.left, right: engines.right)
    if isJSON {
      try output.write(
        "{\n  \"entities\": \(entities.json.compact),\n  \"properties\": \(properties.json.compact),\n"
          + "  \"ambiguous\": \(ambiguous.compact),\n  \"differences\": [")
    } else {
      for name in entities.left { try output.writeLine("- entity \(DisplayWidth.escaped(name))") }
      for name in entities.right { try output.writeLine("+ entity \(DisplayWidth.escaped(name))") }
      for name in properties.left { try output.writeLine("- property \(DisplayWidth.escaped(name))") }
      for name in properties.right { try output.writeLine("+ property \(DisplayWidth.escaped(name))") }
      for (_, ids) in correspondence.ambiguous {
        try output.writeLine(
          "? not matched, with equal keys: \(ids.map(text.left.ids.short).joined(separator: ", "))")
      }
    }
    var count: Int = 0
    var differing: Set<String> = []
    let summary: StoreComparison.Summary = try comparison.run { difference in
      if isJSON {
        try output.write((count == 0 ? "\n    " : ",\n    ") + text.json(difference).compact)
      } else {
        for line in text.lines(difference) { try output.writeLine(line) }
      }
      count += 1
      differing.insert(difference.entity)
    }
    progress.end()
    let isEqual: Bool = count == 0 && entities.isEmpty && properties.isEmpty
    if isJSON {
      let compared: JSONText = .object([
        ("objects", .integer(Int64(summary.objects))), ("values", .integer(Int64(summary.values))),
        ("relationships", .integer(Int64(summary.relationships))),
      ])
      try output.writeLine(
        (count == 0 ? "" : "\n  ") + "],\n  \"compared\": \(compared.compact),\n  \"equal\": \(isEqual)\n}")
    } else if isEqual {
      try output.writeLine(
        "The stores are equal: \(Counted.text(summary.objects, "object", "objects")) compared.")
    } else if count > 0 {
      try output.writeLine(Counted.text(count, "object differs", "objects differ") + ".")
      if let hint = try numberHint(differing.subtracting(matched)) { try output.writeLine(hint) }
    }
    try output.flush()
    return isEqual
  }

  /// What to do if the numbers of the objects are the difference: a copy of another kind may number them
  /// anew. Nothing where no attributes lead to other objects than the numbers do.
  private func numberHint(_ entities: Set<String>) throws -> String? {
    let isRenumbered: Bool = engines.left.hasOneKeySequence != engines.right.hasOneKeySequence
    let advice = KeyAdvice(engines.left, engines.right)
    let (terms, without): ([String], [String]) = try advice.terms(for: entities)
    guard !terms.isEmpty || (isRenumbered && !without.isEmpty) else { return nil }
    var hint: String =
      "Objects\(matched.isEmpty ? "" : " of \(entities.sorted().joined(separator: ", "))") were compared with those of the same number"
    if isRenumbered { hint += ", and stores of these two kinds number them differently" }
    hint += "."
    if !terms.isEmpty {
      hint += " To compare them by their values: "
      hint +=
        advice.areUnique(terms) ? "--by unique." : "\(terms.map { "--by \($0)" }.joined(separator: " "))."
    }
    if isRenumbered, !without.isEmpty {
      hint += " No attribute tells the objects of \(without.joined(separator: ", ")) apart."
    }
    return hint
  }

  private var ambiguous: JSONText {
    .array(
      correspondence.ambiguous.map { entity, ids in
        .object([
          ("entity", .string(entity)),
          ("objects", .strings(ids.map { "\(entity)/p\($0.key)" })),
        ])
      })
  }

  /// `Entity.property` of the entities that both have.
  private func names(_ side: KeyPath<StoreCorrespondence.Entity, EntityLayout?>) -> Set<String> {
    var names: Set<String> = []
    for entity in correspondence.entities where entity.left != nil && entity.right != nil {
      for slot in entity[keyPath: side]?.slots ?? [] {
        switch slot.role {
        case .stored, .toMany: names.insert("\(entity.name).\(slot.name)")
        case .transient, .fetched, .composite: break
        }
      }
    }
    return names
  }
}
