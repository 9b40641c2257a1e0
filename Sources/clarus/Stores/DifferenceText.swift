import CoreDataStorage

/// Differences of two stores in words and as JSON.
struct DifferenceText {
  let left: ValuePrinter
  let right: ValuePrinter

  init(left: any StoreEngine, right: any StoreEngine) {
    self.left = ValuePrinter(ids: ObjectIDs(layout: left.layout, storeUUID: left.identifier))
    self.right = ValuePrinter(ids: ObjectIDs(layout: right.layout, storeUUID: right.identifier))
  }

  private static let widest: Int = 60

  /// As lines: `- Item/p1`, `+ Item/p2`, `~ Item/p3` with a line for each property.
  func lines(_ difference: StoreComparison.Difference) -> [String] {
    switch (difference.left, difference.right) {
    case (let id?, nil): return ["- \(left.ids.short(id))"]
    case (nil, let id?): return ["+ \(right.ids.short(id))"]
    case (nil, nil): return []
    case (let id?, let other?):
      let names: [String] = [left.ids.short(id), right.ids.short(other)]
      let title: String = names[0] == names[1] ? names[0] : names.joined(separator: " = ")
      return ["~ \(title)"]
        + difference.properties.map { property in
          let old: String = Self.cell(property.left, left)
          let new: String = Self.cell(property.right, right)
          return "    \(DisplayWidth.escaped(property.name)): \(old) → \(new)"
        }
    }
  }

  private static func cell(_ value: StoreComparison.Value, _ printer: ValuePrinter) -> String {
    if case .none = value { return "nil" }
    if case .objects(let ids) = value, ids.isEmpty { return "nothing" }
    return DisplayWidth.truncated(DisplayWidth.escaped(printer.cell(OutputValue(value))), to: widest)
  }

  func json(_ difference: StoreComparison.Difference) -> JSONText {
    let kind: String =
      difference.left == nil ? "added" : difference.right == nil ? "removed" : "changed"
    var entries: [(String, JSONText)] = [
      ("change", .string(kind)), ("entity", .string(difference.entity)),
      ("left", .optional(difference.left.map(left.ids.short))),
      ("right", .optional(difference.right.map(right.ids.short))),
    ]
    if kind == "changed" {
      let properties: [JSONText] = difference.properties.map { property in
        .object([
          ("name", .string(property.name)), ("left", Self.json(property.left, left)),
          ("right", Self.json(property.right, right)),
        ])
      }
      entries.append(("properties", .array(properties)))
    }
    return .object(entries)
  }

  /// Ids without the store's UUID, which always differs.
  private static func json(_ value: StoreComparison.Value, _ printer: ValuePrinter) -> JSONText {
    switch value {
    case .object(let id): .string(printer.ids.short(id))
    case .objects(let ids): .strings(ids.map(printer.ids.short))
    case .none, .value: printer.json(OutputValue(value))
    }
  }
}

extension OutputValue {
  init(_ value: StoreComparison.Value) {
    switch value {
    case .none: self = .none
    case .value(let value, let kind): self = OutputValue(value, kind)
    case .object(let id): self = .id(id)
    case .objects(let ids): self = .ids(ids)
    }
  }
}
