import CoreDataModel
import CoreDataStorage

/// Where the rows of each entity go.
///
/// Rows of one hierarchy are in one table. If an entity gets another parent, its rows go to another table.
/// Those that come from the table's own predecessor keep their keys. To the keys of the others a number is
/// added, the same for all that come from one table, so that every reference to them can be computed. It is
/// the highest key ever given out in the table: a reference to an object that is gone never leads to
/// another one.
struct EntityMoves {
  /// An entity of the old model and the one that takes over its rows, by index.
  struct Pair: Hashable {
    var old: Int
    var new: Int
  }

  /// Rows that come from one table into a table of the new schema.
  struct Origin {
    /// By position in the old schema.
    var table: Int
    var pairs: [Pair]
    /// What is added to their keys.
    var offset: Int64
  }

  let old: StoreSchema
  let new: StoreSchema
  /// By old entity index.
  let image: [Int?]
  /// By new entity index; nil for an entity without rows in the store.
  let source: [Int?]
  /// By position of the new table. The first origin keeps its keys.
  let origins: [[Origin]]
  private(set) var obstacles: [String] = []

  init(_ plan: SchemaPlan, old: StoreSchema, new: StoreSchema, facts: MigrationFacts) {
    self.old = old
    self.new = new
    var image = [Int?](repeating: nil, count: old.layout.entities.count)
    var source = [Int?](repeating: nil, count: new.layout.entities.count)
    var origins = [[Origin]](repeating: [], count: new.tables.count)
    var obstacles: [String] = []
    for entity in new.layout.entities {
      guard let position = new.tablePosition[entity.index], let from = plan.entities[entity.index].entity,
        let table = old.tablePosition[from]
      else { continue }
      if image[from] != nil {
        obstacles.append(
          "The objects of \(old.layout.entities[from].name) become objects of two entities, "
            + "\(new.layout.entities[image[from]!].name) and \(entity.name).")
        continue
      }
      image[from] = entity.index
      source[entity.index] = from
      let pair = Pair(old: from, new: entity.index)
      if let known = origins[position].firstIndex(where: { $0.table == table }) {
        origins[position][known].pairs.append(pair)
      } else {
        origins[position].append(Origin(table: table, pairs: [pair], offset: 0))
      }
    }
    for position in origins.indices {
      let root: Int? = source[new.tables[position].root]
      origins[position].sort { first, second in
        func rank(_ origin: Origin) -> (Int, Int) {
          let table: TableSchema = old.tables[origin.table]
          return (table.root == root ? 0 : 1, origin.table)
        }
        return rank(first) < rank(second)
      }
      var highest: Int64 = 0
      for place in origins[position].indices {
        origins[position][place].offset = highest
        let table: TableSchema = old.tables[origins[position][place].table]
        let (sum, overflow) = facts.highestKey(of: table).addingReportingOverflow(highest)
        if overflow { obstacles.append("Table \(table.name) has used up its keys.") }
        highest = overflow ? highest : sum
      }
    }
    self.image = image
    self.source = source
    self.origins = origins
    self.obstacles = obstacles
  }

  /// The old number of an entity whose rows go to a new one.
  func number(_ pair: Pair) -> Int { old.entityNumbers[pair.old] }

  /// The numbers of a family's entities, old → new, as far as their rows stay in the new family.
  func numbers(_ oldEntity: Int, _ newEntity: Int) -> [Int: Int] {
    var result: [Int: Int] = [:]
    for entity in old.layout.entities[oldEntity].family {
      guard let arrived = image[entity], new.layout.entities[newEntity].family.contains(arrived) else {
        continue
      }
      result[old.entityNumbers[entity]] = new.entityNumbers[arrived]
    }
    return result
  }

  /// What is added to references to objects of an entity that become references to another one's; nil if none
  /// of these objects becomes one of those.
  func shift(_ oldEntity: Int, _ newEntity: Int) -> Int64? {
    guard !numbers(oldEntity, newEntity).isEmpty, let from = old.tablePosition[oldEntity],
      let position = new.tablePosition[newEntity]
    else {
      // Both are in another store: there is nothing to compute with.
      return old.tablePosition[oldEntity] == nil && new.tablePosition[newEntity] == nil ? 0 : nil
    }
    return origins[position].first { $0.table == from }?.offset
  }

  /// Whether a reference to an object of the old entity may lead to none of the new one's.
  func losesRows(_ oldEntity: Int, _ newEntity: Int) -> Bool {
    guard old.tablePosition[oldEntity] != nil else { return false }
    return numbers(oldEntity, newEntity).count < old.layout.entities[oldEntity].family.count
  }

  /// The highest key of a new table's rows.
  func highestKey(of position: Int, _ facts: MigrationFacts) -> Int64 {
    origins[position].map { facts.highestKey(of: old.tables[$0.table]) &+ $0.offset }.max() ?? 0
  }
}
