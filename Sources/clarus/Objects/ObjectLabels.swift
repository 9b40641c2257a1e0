import CoreDataPredicates
import CoreDataStorage

/// A label for an object: the value of the attribute that is most likely a name.
struct ObjectLabels {
  let engine: any StoreEngine

  /// Names of attributes that identify an object, the best first.
  private static let names: [String] = [
    "name", "title", "label", "displayname", "fullname", "text", "subject", "summary", "key", "identifier",
  ]

  /// The attribute that labels objects of an entity: one of those names, or one that ends in "name" or
  /// "title", else the first string there is.
  static func attribute(of entity: EntityLayout) -> String? {
    let texts: [String] = entity.slots.compactMap { slot in
      guard case .stored(.string, _) = slot.role, !slot.isElement else { return nil }
      return slot.name
    }
    func rank(_ name: String) -> Int {
      let plain: String = name.lowercased()
      if let place = names.firstIndex(of: plain) { return place }
      return plain.hasSuffix("name") || plain.hasSuffix("title") ? names.count : names.count + 1
    }
    return texts.min { (rank($0), $0) < (rank($1), $1) }
  }

  /// The labels of those objects that have one.
  func labels(_ ids: some Sequence<RowID>) throws -> [RowID: String] {
    var labels: [RowID: String] = [:]
    let idsByEntity: [Int32: [RowID]] = Dictionary(grouping: ids, by: \.entity)
    for (index, ids) in idsByEntity.sorted(by: { $0.key < $1.key }) {
      let entity: EntityLayout = engine.layout.entities[Int(index)]
      guard let name = Self.attribute(of: entity) else { continue }
      var rows = FetchPlan(entity: entity)
      rows.predicate = ObjectReference.isAmong(ids)
      let plan = ProjectionPlan(
        rows: rows,
        columns: [
          ProjectionColumn(name: "id", expression: .evaluatedObject),
          ProjectionColumn(name: name, expression: .keyPath(name)),
        ])
      let table: ProjectedRows = try engine.fetch(plan)
      for row in 0..<table.count {
        guard case .id(let id) = OutputValue(table[row, 0], nil), case .string(let text) = table[row, 1]
        else { continue }
        labels[id] = text.count > 200 ? text.prefix(200) + "…" : text
      }
    }
    return labels
  }
}
