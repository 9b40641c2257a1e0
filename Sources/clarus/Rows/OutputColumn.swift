import CoreDataModel
import CoreDataStorage
import Foundation

/// A column of `clarus fetch`: a key path, and its end in each entity whose rows are shown.
struct OutputColumn {
  let name: String
  /// By entity index; an entity without the property shows nothing.
  let ends: [Int: PathEnd]

  /// A path from the entity or from one of its sub-entities.
  init(_ path: String, of entity: EntityLayout, in layout: ModelLayout) throws {
    name = path
    var ends: [Int: PathEnd] = [:]
    var failure: (any Error)?
    for index in entity.family {
      do {
        ends[index] = try PathEnd(path, from: layout.entities[index], in: layout)
      } catch {
        // The fetched entity's error comes first, unless a sub-entity has the property and another error.
        let hasName: Bool = layout.entities[index].slotByName[String(path.prefix { $0 != "." })] != nil
        if failure == nil || hasName { failure = failure.map { hasName ? error : $0 } ?? error }
      }
    }
    if ends.isEmpty, let failure {
      let family: [EntityLayout] = entity.family.map { layout.entities[$0] }
      throw PathEnd.unknown(path, amongAll: family) ?? failure
    }
    self.ends = ends
  }

  private init(name: String, ends: [Int: PathEnd]) {
    self.name = name
    self.ends = ends
  }

  /// The object id, then every stored value of the entity, then, on request, its to-many relationships, each
  /// of which costs a statement.
  static func standard(
    of entity: EntityLayout, in layout: ModelLayout, withMembers: Bool
  ) throws -> [OutputColumn] {
    let names: [String] = entity.slots.compactMap { slot in
      switch slot.role {
      case .stored: slot.name
      case .toMany: withMembers ? slot.name : nil
      case .transient, .fetched, .composite: nil
      }
    }
    return try ([PathEnd.objectIDName] + names).map { try OutputColumn($0, of: entity, in: layout) }
  }

  /// Paths separated by commas.
  static func list(_ text: String, of entity: EntityLayout, in layout: ModelLayout) throws -> [OutputColumn] {
    try NameList.names(text).map { try OutputColumn($0, of: entity, in: layout) }
  }

  /// Numbers are aligned right.
  func isNumeric(listsMembers: Bool) -> Bool {
    guard let end = ends.min(by: { $0.key < $1.key })?.value else { return false }
    switch end {
    case .value(_, let kind), .computed(_, let kind?): return kind.isNumber
    case .computed(_, nil): return true
    case .members: return !listsMembers
    case .object: return false
    }
  }
}

extension ColumnKind {
  var isNumber: Bool {
    switch self {
    case .int16, .int32, .int64, .double, .float, .decimal: true
    default: false
    }
  }
}

/// Names separated by commas, the value of an option.
enum NameList {
  static func names(_ text: String) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
  }

  /// The error in such a list; nil: none.
  static func objection(_ option: String, _ text: String) -> String? {
    let names: [String] = names(text)
    if names.contains("") { return "\(option) \"\(text)\" has an empty name." }
    let twice: String? = names.first { name in names.count { $0 == name } > 1 }
    return twice.map { "\(option) \"\(text)\" names \($0) twice." }
  }
}
