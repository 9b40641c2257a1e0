import CoreDataPredicates
import CoreDataSQL
import CoreDataStorage

/// Statements that read the members of to-many relationships, compiled once for each relationship and each
/// size of the lists they have as parameters.
///
/// The engine passes owners and candidates in lists of a few sizes (`EngineStatements.listSize`), so there
/// are few statements. To find the parameter of each key, a statement is compiled for keys that encode their
/// own position.
final class MemberStatements: Sendable {
  private struct Key: Hashable {
    var entity: Int
    var slot: Int
    var owners: Int
    /// -1 for any member.
    var candidates: Int
  }

  private struct Template: Sendable {
    var sql: String
    var values: [SQLValue]
    var places: [(binding: Int, isOwner: Bool, number: Int)]
  }

  private let compiler: FetchCompiler
  private let templates = Guarded<[Key: Template]>([:])

  init(_ compiler: FetchCompiler) { self.compiler = compiler }

  /// How many statements were compiled.
  var count: Int { templates.withLock { $0.count } }

  /// The statement for the members of these owners, or only for those that are among the candidates.
  func statement(
    of layout: EntityLayout, slot: Int, owners: [Int64], among candidates: [Int64]? = nil
  ) throws -> CompiledStatement {
    let key = Key(
      entity: layout.index, slot: slot, owners: owners.count, candidates: candidates?.count ?? -1)
    let template: Template
    if let known = templates.withLock({ $0[key] }) {
      template = known
    } else {
      template = try make(key, layout)
      templates.withLock { $0[key] = template }
    }
    var values: [SQLValue] = template.values
    for place in template.places {
      values[place.binding] = .integer(
        place.isOwner ? owners[place.number] : candidates?[place.number] ?? 0)
    }
    return CompiledStatement(sql: template.sql, bindings: values)
  }

  private func make(_ key: Key, _ layout: EntityLayout) throws -> Template {
    // No row has a negative key, and no other value of the statement is negative.
    let owners: [Int64] = (0..<key.owners).map { -2 * Int64($0) - 1 }
    let candidates: [Int64]? = key.candidates < 0 ? nil : (0..<key.candidates).map { -2 * Int64($0) - 2 }
    let compiled: CompiledStatement = try compiler.members(
      of: layout, slot: key.slot, owners: owners, among: candidates
    ).statement
    var template = Template(sql: compiled.sql, values: compiled.bindings, places: [])
    for (binding, value) in compiled.bindings.enumerated() {
      guard case .integer(let mark) = value, mark < 0 else { continue }
      let isOwner: Bool = mark % 2 != 0
      template.places.append((binding, isOwner, Int((isOwner ? -1 - mark : -2 - mark) / 2)))
    }
    return template
  }
}
