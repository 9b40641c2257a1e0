import CoreDataPredicates
import Foundation

extension ModelSourceReader {
  func readFetchedProperties(of entity: NSEntityDescription, _ element: ModelXMLElement) throws {
    for child in element.children("fetchedProperty") {
      guard let name = child.attributes["name"],
        let property = entity.ownProperties.first(where: { $0.name == name }) as? NSFetchedPropertyDescription
      else { continue }
      let requests = child.children("fetchRequest")
      guard requests.count <= 1 else {
        throw error(child, "Fetched property '\(name)' has more than one fetchRequest.")
      }
      guard let request = requests.first else { continue }
      property.fetchRequest = try readFetchRequest(request, label: "fetched property '\(name)'")
    }
  }

  func readTemplate(_ element: ModelXMLElement) throws {
    let name = try required("name", of: element)
    guard model.templates[name] == nil else {
      throw error(element, "There are two fetch requests named '\(name)'; rename one.")
    }
    model.templates[name] = try readFetchRequest(element, label: "fetch request '\(name)'")
  }

  private func readFetchRequest(_ element: ModelXMLElement, label: String) throws
    -> NSFetchRequest<any NSFetchRequestResult>
  {
    note(element)
    let request = NSFetchRequest<any NSFetchRequestResult>()
    if let name = nonEmpty("entity", of: element) {
      guard let entity = entityNamed(name) else {
        throw error(element, "The \(label) fetches '\(name)', which is not in the model.")
      }
      request.entity = entity
    }
    if let text = nonEmpty("predicateString", of: element) {
      request.predicate = try predicate(text, of: element, label: label)
    }
    request.fetchLimit = try integer("fetchLimit", of: element) ?? 0
    request.fetchBatchSize = try integer("fetchBatchSize", of: element) ?? 0
    if let code = try integer("resultType", of: element) {
      guard 0...7 ~= code else { throw error(element, "resultType=\"\(code)\" of the \(label) is unknown.") }
      request.resultType = NSFetchRequestResultType(rawValue: UInt(code))
    }
    // Both spellings occur: the editor leaves out an "s" here and there.
    func flag(_ names: String...) throws -> Bool? {
      for name in names {
        if let value = try bool(name, of: element) { return value }
      }
      return nil
    }
    request.includesSubentities = try flag("includeSubentities", "includesSubentities") ?? true
    request.includesPropertyValues = try flag("includePropertyValues", "includesPropertyValues") ?? true
    request.includesPendingChanges = try flag("includesPendingChanges", "includePendingChanges") ?? true
    request.returnsObjectsAsFaults = try flag("returnObjectsAsFaults", "returnsObjectsAsFaults") ?? true
    request.returnsDistinctResults = try flag("returnDistinctResults", "returnsDistinctResults") ?? false
    return request
  }
}
