import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// `--match-where`: which object of the store a record is, by a predicate whose variables are the record's
/// attributes.
struct MatchPredicate {
  let predicate: NSPredicate
  private let entity: String
  private let variables: [String]

  init(_ text: String, _ entity: String, _ layout: ModelLayout) throws {
    predicate = try naming("--match-where") { try NSPredicate(parsing: text, arguments: []) }
    self.entity = entity
    guard let description = layout.byName[entity] else {
      throw CommandFailure(
        "--entity: There is no entity \"\(entity)\". \(NearestNames.advice(for: entity, among: layout.byName.keys))"
      )
    }
    variables = Set(text.matches(of: /\$([A-Za-z_][A-Za-z_0-9]*)/).map { String($0.output.1) }).sorted()
    for name in variables where !MatchKeys.isAttribute(name, of: description) {
      let names: [String] = description.slots.map(\.name).filter {
        MatchKeys.isAttribute($0, of: description)
      }
      throw CommandFailure(
        "--match-where: $\(name) is no stored attribute of \(entity). \(NearestNames.advice(for: name, among: names))"
      )
    }
  }

  /// The values of the variables.
  func values(of record: ImportRecord, _ entity: EntityLayout) throws -> [String: Any] {
    guard entity.name == self.entity else {
      throw ImportError(
        record.position, "--match-where finds objects of \(self.entity), and this is a \(entity.name).")
    }
    var values: [String: Any] = [:]
    for name in variables {
      guard let field = record.field(name), let attribute = entity.slot(named: name)?.attribute else {
        throw ImportError(record.position, "The object has no \"\(name)\", which --match-where compares.")
      }
      values[name] =
        try ImportValues.value(field, for: attribute, named: "\(entity.name).\(name)") ?? NSNull()
    }
    return values
  }
}
