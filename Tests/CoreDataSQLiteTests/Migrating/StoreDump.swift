import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

@testable import CoreDataSQLite

/// All objects of a store, each called by its entity and its place among that entity's objects, so that
/// stores whose keys differ can be compared.
struct StoreDump: Equatable {
  struct Object: Equatable {
    var key: Int64
    var values: [String: Value] = [:]
    /// The members' names: in their order if the relationship is ordered, else sorted.
    var members: [String: [String]] = [:]
  }

  /// By entity.
  var objects: [String: [Object]] = [:]

  init() {}

  init(_ engine: SQLiteEngine) throws {
    var names: [RowID: String] = [:]
    var rows: [(layout: EntityLayout, row: RowRef)] = []
    for layout in engine.layout.entities {
      let all: [RowRef] = try engine.fetch(FetchPlan(entity: layout)).rows
      let own: [RowRef] = all.filter { Int($0.id.entity) == layout.index }.sorted { $0.id.key < $1.id.key }
      for (place, row) in own.enumerated() {
        names[row.id] = "\(layout.name) \(place)"
        rows.append((layout, row))
      }
    }
    // By owner, then slot.
    var members: [RowID: [Int: [RowID]]] = [:]
    for layout in engine.layout.entities {
      let owners: [RowID] = rows.filter { $0.layout === layout }.map(\.row.id)
      for (number, slot) in layout.slots.enumerated() where slot.role == .toMany && !owners.isEmpty {
        for (owner, found) in zip(owners, try engine.members(of: layout, slot: number, owners: owners)) {
          members[owner, default: [:]][number] = found
        }
      }
    }
    for (layout, row) in rows {
      var object = Object(key: row.id.key)
      // Derived values have a test of their own.
      for (name, value) in row.values(layout) where !(layout.slot(named: name)?.isDerived ?? false) {
        if case .target(let id) = value {
          object.members[name] = [names[id] ?? "lost \(id.key)"]
        } else {
          object.values[name] = value
        }
      }
      for (number, slot) in layout.slots.enumerated() where slot.isToMany && slot.role == .toMany {
        let own: [RowID] = members[row.id]?[number] ?? []
        if own.isEmpty { continue }
        let found: [String] = own.map { names[$0] ?? "lost \($0.key)" }
        object.members[slot.name] = slot.relationship!.isOrdered ? found : found.sorted()
      }
      objects[layout.name, default: []].append(object)
    }
  }

  /// What a migration should make of the dump: slow, object by object, and without any SQL.
  func migrated(_ plan: SchemaPlan) -> StoreDump {
    var result = StoreDump()
    var heirs: [String: EntityLayout] = [:]
    for entity in plan.target.entities {
      if let source = plan.entities[entity.index].entity { heirs[plan.source.entities[source].name] = entity }
    }
    /// The new name of an old object.
    func renamed(_ name: String) -> (entity: EntityLayout, name: String)? {
      let (old, place) = Self.parts(name)
      return heirs[old].map { ($0, "\($0.name) \(place)") }
    }
    for entity in plan.target.entities {
      guard let source = plan.entities[entity.index].entity else { continue }
      let former: EntityLayout = plan.source.entities[source]
      let made: [Object] = (objects[former.name] ?? []).map { old in
        var object = Object(key: old.key)
        for (number, slot) in entity.slots.enumerated() where !slot.isDerived {
          switch plan.entities[entity.index].slots[number] {
          case .constant(let value):
            if case .stored(let kind, _) = slot.role { object.values[slot.name] = Value(value, kind) }
          case .slot(let oldNumber, let whenNil):
            let name: String = former.slots[oldNumber].name
            if slot.relationship == nil {
              guard case .stored(let kind, _) = slot.role else { continue }
              object.values[slot.name] =
                old.values[name].map { $0.converted(to: kind) } ?? whenNil.flatMap { Value($0, kind) }
            } else {
              let family: ClosedRange<Int> = plan.target.entities[slot.destination!].family
              let members: [String] = (old.members[name] ?? []).compactMap(renamed)
                .filter { family.contains($0.entity.index) }.map(\.name)
              // An order that is new is that of the keys.
              let isSorted: Bool = !slot.relationship!.isOrdered
              if !members.isEmpty { object.members[slot.name] = isSorted ? members.sorted() : members }
            }
          }
        }
        return object
      }
      if !made.isEmpty { result.objects[entity.name] = made }
    }
    result.complete(plan)
    return result
  }

  private static func parts(_ name: String) -> (entity: String, place: Int) {
    let parts: [Substring] = name.split(separator: " ")
    return (String(parts[0]), Int(parts[1])!)
  }

  /// A new relationship that is the inverse of one with members has those as its own; one that is now its own
  /// inverse leads both ways.
  private mutating func complete(_ plan: SchemaPlan) {
    for entity in plan.target.entities {
      for (place, object) in (objects[entity.name] ?? []).enumerated() {
        for slot in entity.slots {
          guard let inverse = slot.relationship?.inverseRelationship,
            inverse === slot.relationship || plan.isNew(inverse.name, of: slot.destination!, plan.target)
          else { continue }
          for member in object.members[slot.name] ?? [] {
            let (name, number) = Self.parts(member)
            let known: [String] = objects[name]![number].members[inverse.name] ?? []
            if known.contains("\(entity.name) \(place)") { continue }
            objects[name]![number].members[inverse.name, default: []].append("\(entity.name) \(place)")
            if !inverse.isOrdered { objects[name]![number].members[inverse.name]!.sort() }
          }
        }
      }
    }
  }

  /// Without keys, for stores where they may differ.
  var withoutKeys: StoreDump {
    var copy: StoreDump = self
    copy.objects = objects.mapValues { $0.map { Object(key: 0, values: $0.values, members: $0.members) } }
    return copy
  }

  /// With the members of relationships that were not ordered before sorted by their names: their first order
  /// is not promised.
  func withoutNewOrders(_ plan: SchemaPlan) -> StoreDump {
    var copy: StoreDump = self
    for entity in plan.target.entities {
      for (number, slot) in entity.slots.enumerated() where slot.relationship?.isOrdered ?? false {
        if case .slot(let old, _) = plan.entities[entity.index].slots[number],
          let former = plan.entities[entity.index].entity,
          plan.source.entities[former].slots[old].relationship?.isOrdered ?? false
        {
          continue
        }
        for place in (copy.objects[entity.name] ?? []).indices {
          copy.objects[entity.name]![place].members[slot.name]?.sort()
        }
      }
    }
    return copy
  }

  /// The first differences, for a test's report.
  func differences(from other: StoreDump) -> String {
    var lines: [String] = []
    for name in Set(objects.keys).union(other.objects.keys).sorted() {
      let (own, their) = (objects[name] ?? [], other.objects[name] ?? [])
      if own.count != their.count { lines.append("\(name): \(own.count) objects, expected \(their.count)") }
      for (place, pair) in zip(own, their).enumerated() where pair.0 != pair.1 {
        lines.append("\(name)\(place): \(pair.0)\n   expected \(pair.1)")
      }
    }
    return lines.prefix(4).joined(separator: "\n")
  }
}

extension SchemaPlan {
  fileprivate func isNew(_ property: String, of entity: Int, _ layout: ModelLayout) -> Bool {
    guard let slot = layout.entities[entity].slotByName[property] else { return false }
    if case .constant = entities[entity].slots[slot] { return true }
    return false
  }
}

extension Value {
  /// nil for null.
  init?(_ value: PredicateValue, _ kind: ColumnKind) {
    switch (value, kind) {
    case (.null, _): return nil
    case (.integer(let number), .double), (.integer(let number), .float), (.integer(let number), .date):
      self = .real(Double(number))
    case (.integer(let number), .decimal): self = .text("\(number)")
    case (.integer(let number), _): self = .integer(number)
    case (.bool(let flag), _): self = .integer(flag ? 1 : 0)
    case (.double(let number), _): self = .real(number)
    case (.string(let text), _): self = .text(text)
    case (.date(let date), _): self = .real(date.timeIntervalSinceReferenceDate)
    case (.data(let data), _): self = .bytes(Array(data))
    default: return nil
    }
  }

  func converted(to kind: ColumnKind) -> Value {
    switch (self, kind) {
    case (.integer(let number), .double), (.integer(let number), .float): .real(Double(number))
    case (.integer(let number), .decimal): .text("\(number)")
    case (.real(let number), .decimal): .text(Decimal(string: "\(number)")!.description)
    default: self
    }
  }
}
