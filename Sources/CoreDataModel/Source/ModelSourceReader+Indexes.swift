import CoreDataPredicates
import Foundation

// Indexes have been written in three ways, and Apple's compiler writes all of them into each model, so that
// every version of the framework finds one it supports: a fetch index over one attribute marks the attribute
// as indexed, one over several is a compound index as well; an attribute that is marked and a compound index
// are fetch indexes of their own, named after what they index.
//
//     <fetchIndex name="byUUID"> uuid                uuid is indexed; fetch indexes uuid and byUUID
//     <attribute name="uuid" indexed="YES"/>         uuid is indexed; fetch index uuid
//     <fetchIndex name="byPlate"> maker, plate       compound index maker, plate; fetch index byPlate
//     <compoundIndex> maker, plate                   compound index maker, plate; fetch index maker_plate
//
// A model that was made in code may have the index byUUID alone. Its source says so with indexed="NO", which
// the editor never writes (Decisions/0130).

extension ModelSourceReader {
  func readIndexes(of entity: NSEntityDescription, _ element: ModelXMLElement) throws {
    let own: [NSFetchIndexDescription] = try element.children("fetchIndex").map(readIndex)
    var compound: [[String]] = entity.compoundIndexNames
    let unmarked = Set(
      element.children("attribute").filter { $0.attributes["indexed"] == "NO" }
        .compactMap { $0.attributes["name"] })
    for index in own {
      let attributes: [NSAttributeDescription] = index.elements.compactMap { part in
        guard part.collationType == .binary, part.storedProperty == nil else { return nil }
        return part.propertyName.flatMap { entity.propertiesByName[$0] } as? NSAttributeDescription
      }
      guard attributes.count == index.elements.count, let first = attributes.first else { continue }
      if attributes.count > 1 {
        let names: [String] = attributes.map(\.name)
        if !compound.contains(names) { compound.append(names) }
      } else if index.elements[0].isAscending, first.declaringEntity === entity,
        !unmarked.contains(first.name)
      {
        first.isIndexed = true
      }
    }
    let implied: [(name: String, columns: [String])] =
      entity.ownProperties.filter { $0.isIndexed && $0 is NSAttributeDescription && !$0.isTransient }
      .map { ($0.name, [$0.name]) }
      + entity.compoundIndexNames.map { ($0.joined(separator: "_"), $0) }
    let taken: Set<String> = Set(own.map(\.name))
    entity.compoundIndexes = compound
    entity.indexes =
      implied.filter { !taken.contains($0.name) }.map { name, columns in
        NSFetchIndexDescription(
          name: name,
          elements: columns.map { NSFetchIndexElementDescription(propertyName: $0, collationType: .binary) })
      } + own
  }

  /// Warns of constraints and indexes over what the entity does not have.
  func noteUnknownNames(in entity: NSEntityDescription, _ element: ModelXMLElement) {
    let properties: [String: NSPropertyDescription] = entity.propertiesByName
    func check(_ part: ModelXMLElement, _ attribute: String, _ label: String) {
      // A part of a composite is `address.city`; `self` stands for the entity.
      guard let name = part.attributes[attribute], let first = name.split(separator: ".").first,
        properties[String(first)] == nil, first != "self"
      else { return }
      warn(part, "\(label) of entity '\(entity.name ?? "")' names '\(name)', which the entity does not have")
    }
    for constraint in element.children("uniquenessConstraints").flatMap({
      $0.children("uniquenessConstraint")
    }) {
      for part in constraint.children("constraint") { check(part, "value", "a uniqueness constraint") }
    }
    for index in element.children("fetchIndex") {
      for part in index.children("fetchIndexElement") where part.attributes["expression"] == nil {
        check(part, "property", "the index '\(index.attributes["name"] ?? "")'")
      }
    }
  }

  private func readIndex(_ element: ModelXMLElement) throws -> NSFetchIndexDescription {
    note(element)
    let name = try required("name", of: element)
    let parts = try element.children("fetchIndexElement").map { try readIndexElement($0, of: name) }
    let index = NSFetchIndexDescription(name: name, elements: parts)
    if let text = nonEmpty("partialIndexPredicate", of: element) {
      index.partialIndexPredicate = try predicate(text, of: element, label: "index '\(name)'")
    }
    return index
  }

  private func readIndexElement(
    _ part: ModelXMLElement, of name: String
  ) throws -> NSFetchIndexElementDescription {
    note(part)
    let type: NSFetchIndexElementType
    switch part.attributes["type"] {
    case nil, "Binary": type = .binary
    case "RTree": type = .rTree
    case let other?:
      throw error(
        part, "Index '\(name)' has an element of type '\(other)'; the types are Binary and RTree.")
    }
    let made: NSFetchIndexElementDescription =
      try expression(of: part, index: name).map {
        NSFetchIndexElementDescription(property: $0, collationType: type)
      }
      ?? NSFetchIndexElementDescription(
        propertyName: try required("property", of: part), collationType: type)
    switch part.attributes["order"] {
    case nil, "ascending": made.isAscending = true
    case "descending": made.isAscending = false
    case let other?:
      throw error(
        part, "Index '\(name)' has the order '\(other)'; the orders are ascending and descending.")
    }
    return made
  }

  /// A computed column: `expression="self"`, with the type of its values.
  private func expression(of part: ModelXMLElement, index: String) throws -> NSExpressionDescription? {
    guard let text = nonEmpty("expression", of: part) else { return nil }
    let made = NSExpressionDescription()
    expressionCount += 1
    made.name = "expression\(expressionCount)"
    do {
      made.expression = try NSExpression(parsing: text, arguments: [])
    } catch let failure {
      throw error(part, "The expression of index '\(index)' can't be read: \(failure)")
    }
    if let type = nonEmpty("expressionType", of: part) {
      guard let known = NSAttributeType(editorName: type) else {
        throw error(part, "Index '\(index)' has an expression of the unknown type '\(type)'.")
      }
      made.expressionResultType = known
    }
    return made
  }
}
