import CoreDataArchives
import CoreDataPredicates
import Foundation

extension ModelArchiveReader {
  func readIndexes(_ record: KeyedArchive.Record, into entity: NSEntityDescription) throws {
    guard let index = try archive.index(record.fields["NSFetchIndexDescriptions"]),
      let list = try archive.record(at: index),
      case .array(let members) = try archive.resolve(list.fields["NS.objects"])
    else { return }
    let name = entity.name ?? ""
    entity.indexes = try members.compactMap { member in
      guard let index = try archive.index(member), let record = try archive.record(at: index) else {
        throw PlistError("entity '\(name)' has an index that is no object")
      }
      note(record, known: ModelArchiveKeys.index, "an index of entity '\(name)'")
      guard let indexName = try string(record, "NSIndexName") else {
        throw PlistError("entity '\(name)' has an index without a name")
      }
      var elements: [NSFetchIndexElementDescription] = []
      if let listIndex = try archive.index(record.fields["NSIndexElements"]),
        let list = try archive.record(at: listIndex),
        case .array(let members) = try archive.resolve(list.fields["NS.objects"])
      {
        elements = try members.map {
          try readIndexElement($0, of: "index '\(indexName)' of entity '\(name)'")
        }
      }
      let made = NSFetchIndexDescription(name: indexName, elements: elements)
      if let predicate = record.fields["NSPartialIndexPredicate"], try archive.index(predicate) != nil {
        made.partialIndexPredicate = try predicates.predicate(predicate, of: "index '\(indexName)'")
      }
      return made
    }
  }

  private func readIndexElement(_ node: PlistNode, of label: String) throws -> NSFetchIndexElementDescription
  {
    guard let index = try archive.index(node), let record = try archive.record(at: index) else {
      throw PlistError("\(label) has an element that is no object")
    }
    note(record, known: ModelArchiveKeys.indexElement, "an element of \(label)")
    let code = try integer(record, "NSFetchIndexElementType", label) ?? 0
    guard code >= 0, let type = NSFetchIndexElementType(rawValue: UInt(code)) else {
      throw PlistError("\(label) has an element of the unknown type \(code)")
    }
    guard let name = try string(record, "NSPropertyName") else {
      throw PlistError("\(label) has an element without a property")
    }
    let element: NSFetchIndexElementDescription =
      try expression(record, of: label).map {
        NSFetchIndexElementDescription(property: $0, collationType: type)
      }
      ?? NSFetchIndexElementDescription(propertyName: name, collationType: type)
    element.isAscending = record.fields["NSAscending"] != .boolean(false)
    return element
  }

  /// The expression of an element, nil for an element that is a property of the entity.
  private func expression(_ element: KeyedArchive.Record, of label: String) throws -> NSExpressionDescription?
  {
    guard let index = try archive.index(element.fields["NSIndexedProperty"]),
      let record = try archive.record(at: index), record.isKind(of: "NSExpressionDescription")
    else { return nil }
    return try computedColumn(record, of: label)
  }

  private func computedColumn(_ record: KeyedArchive.Record, of label: String) throws
    -> NSExpressionDescription
  {
    note(record, known: ModelArchiveKeys.expression, "an expression of \(label)")
    let made = NSExpressionDescription()
    made.name = try string(record, "NSPropertyName") ?? ""
    made.storedRenamingIdentifier = try renamingIdentifier(record, name: made.name)
    if let node = record.fields["NSExpression"], try archive.index(node) != nil {
      made.expression = try predicates.expression(node, of: label)
    }
    let code: Int = try integer(record, "NSExpressionType", label) ?? 0
    made.expressionResultType = NSAttributeType(rawValue: UInt(max(0, code))) ?? .undefinedAttributeType
    return made
  }

  func readFetchRequest(at index: Int, of label: String) throws -> NSFetchRequest<
    any NSFetchRequestResult
  > {
    guard let record = try archive.record(at: index), record.isKind(of: "NSFetchRequest") else {
      throw PlistError("\(label) is no fetch request")
    }
    note(record, known: ModelArchiveKeys.fetchRequest, label)
    let request = NSFetchRequest<any NSFetchRequestResult>()
    if let entityIndex = try archive.index(record.fields["NSEntity"]) {
      if let entity = entities[entityIndex] {
        request.entity = entity
      } else if let name = try values.value(record.fields["NSEntity"]) as? String {
        request.storedEntityName = name
        request.entity = entityNames[name]
      }
    }
    if let node = record.fields["NSPredicate"], try archive.index(node) != nil {
      request.predicate = try predicates.predicate(node, of: label)
    }
    if let node = record.fields["NSHavingPredicate"], try archive.index(node) != nil {
      request.havingPredicate = try predicates.predicate(node, of: label)
    }
    request.sortDescriptors = try sortDescriptors(record, of: label)
    request.fetchLimit = try integer(record, "NSFetchLimit", label) ?? 0
    request.fetchOffset = try integer(record, "NSFetchOffset", label) ?? 0
    request.fetchBatchSize = try integer(record, "NSBatchSize", label) ?? 0
    let type = try integer(record, "NSResultType", label) ?? 0
    request.resultType = NSFetchRequestResultType(rawValue: UInt(truncatingIfNeeded: max(0, type)))
    if let flags = try integer(record, "NSFetchRequestFlags", label) {
      FetchRequestFlags(rawValue: flags).apply(to: request)
    }
    request.propertiesToFetch = try columns(record.fields["NSValuesToFetch"], of: label)
    request.propertiesToGroupBy = try columns(record.fields["NSValuesToGroupBy"], of: label)
    request.relationshipKeyPathsForPrefetching =
      try values.value(record.fields["NSRelationshipKeyPathsForPrefetching"]) as? [String]
    return request
  }

  private func columns(_ node: PlistNode?, of label: String) throws -> [Any]? {
    guard let index = try archive.index(node), let list = try archive.record(at: index),
      case .array(let members) = try archive.resolve(list.fields["NS.objects"])
    else { return nil }
    return try members.map { member in
      if let index = try archive.index(member), let record = try archive.record(at: index),
        record.isKind(of: "NSExpressionDescription")
      {
        return try computedColumn(record, of: label)
      }
      guard let name = try values.value(member) as? String else {
        throw PlistError("\(label) fetches a column that is neither a name nor an expression")
      }
      return name
    }
  }

  private func sortDescriptors(_ record: KeyedArchive.Record, of label: String) throws -> [NSSortDescriptor]?
  {
    guard let index = try archive.index(record.fields["NSSortDescriptors"]),
      let list = try archive.record(at: index),
      case .array(let members) = try archive.resolve(list.fields["NS.objects"])
    else { return nil }
    return try members.map { member in
      guard let index = try archive.index(member), let record = try archive.record(at: index),
        record.isKind(of: "NSSortDescriptor")
      else { throw PlistError("\(label) has a sort descriptor that is none") }
      return try predicates.sortDescriptor(record, of: label) { selector in
        warn("\(label) sorts by the unknown selector \(selector); it is read as compare:")
      }
    }
  }
}
