import CoreDataModel
import CoreDataStorage

/// A column of an index or of an order.
package struct OrderedColumn: Sendable, Hashable {
  package var name: String
  package var ascending: Bool
}

extension StoreSchema {
  /// Whether an index of the model may return rows of a table in an order when it is read backwards. Its last
  /// columns are the order's; the predicate may fix the columns before and between them.
  func isServedBackwards(_ order: [OrderedColumn], of table: TableSchema) -> Bool {
    guard let position = tablePosition[table.root] else { return false }
    return indexedOrders[position].contains { index in
      guard let last = index.last, last.name == order.last?.name else { return false }
      var rest: ArraySlice<OrderedColumn> = order[...]
      for column in index where column.name == rest.first?.name && column.ascending != rest.first?.ascending {
        rest = rest.dropFirst()
      }
      return rest.isEmpty
    }
  }

  /// The columns of every index that may serve an order, by the table's position.
  static func indexedOrders(
    of layout: ModelLayout, tablePosition: [Int?], storage: [[SlotStorage]], tableCount: Int
  ) -> [[[OrderedColumn]]] {
    var result: [[[OrderedColumn]]] = Array(repeating: [], count: tableCount)
    for entity in layout.entities {
      guard let position = tablePosition[entity.index] else { continue }
      func add(_ elements: [(property: String?, ascending: Bool)]) {
        let columns: [OrderedColumn] = elements.compactMap { element in
          let slot: Int? = element.property.flatMap { entity.slotByName[$0] }
          return slot.flatMap { storage[entity.index][$0].column }
            .map { OrderedColumn(name: $0, ascending: element.ascending) }
        }
        if columns.count == elements.count { result[position].append(columns) }
      }
      for index in entity.entity.indexes { add(index.elements.map { ($0.propertyName, $0.isAscending) }) }
      for names in entity.entity.compoundIndexNames + entity.entity.uniquenessConstraintNames {
        add(names.map { ($0, true) })
      }
      for slot in entity.slots where slot.declaringEntity == entity.index {
        if slot.property.isIndexed || slot.isToOne { add([(slot.name, true)]) }
      }
    }
    return result
  }
}
