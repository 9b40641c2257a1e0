import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates

/// A place on a path: an object, of which no example is made before the end of the path, or an example of a
/// value.
enum PathPlace {
  case object(NSEntityDescription)
  case value(PredicateValue?)

  var value: PredicateValue? {
    switch self {
    case .object(let entity): .example(of: entity)
    case .value(let value): value
    }
  }
}

extension PredicateCheck {
  /// An example of the value of a path. `expression` is the whole expression, for messages.
  mutating func read(_ path: String, from start: PathPlace, of expression: ExpressionNode) -> PredicateValue?
  {
    var place: PathPlace = start
    var rest: Substring = path[...]
    while true {
      let dot: Substring.Index? = rest.utf8.firstIndex(of: UInt8(ascii: "."))
      let key: Substring = rest[..<(dot ?? rest.endIndex)]
      let tail: Substring? = dot.map { rest[rest.index(after: $0)...] }
      if key.utf8.first == UInt8(ascii: "@") {
        let before: Substring = path[..<key.startIndex].dropLast()
        return collect(key, tail, from: place.value, before: before, of: expression)
      }
      place = step(String(key), from: place, of: expression)
      guard let tail else { return place.value }
      rest = tail
    }
  }

  // MARK: One key

  private mutating func step(_ key: String, from place: PathPlace, of expression: ExpressionNode) -> PathPlace
  {
    switch place {
    case .object(let entity): return step(key, from: entity, of: expression)
    case .value(nil): return place
    case .value(let value?):
      switch value {
      case .null, .nullObject: return .value(.null)
      case .object:
        switch value.exampleForm {
        case .entity(let entity): return step(key, from: entity, of: expression)
        case .composite(let attribute): return .value(read(key, from: attribute, value, of: expression))
        case nil: return .value(nil)
        }
      case .array(let members):
        return .value(key == "self" ? value : readMany(key, members.first, isOrdered: true, of: expression))
      case .set(let members):
        return .value(key == "self" ? value : readMany(key, members.first, isOrdered: false, of: expression))
      case .dictionary(let entries): return .value(entries[.string(key)] ?? (key == "self" ? value : .null))
      default: return .value(key == "self" ? value : readScalar(key, from: value, of: expression))
      }
    }
  }

  /// The values of a key for all members; those that are collections themselves become one.
  private mutating func readMany(
    _ key: String, _ member: PredicateValue?, isOrdered: Bool, of expression: ExpressionNode
  ) -> PredicateValue? {
    guard let result = step(key, from: .value(member), of: expression).value else { return nil }
    guard let members = result.elements else { return SampleEvaluation.many(result, isOrdered: isOrdered) }
    return isOrdered ? .array(members) : .set(Set(members))
  }

  private mutating func readScalar(_ key: String, from value: PredicateValue, of expression: ExpressionNode)
    -> PredicateValue?
  {
    if let result = try? SampleEvaluation.read(key, from: value) { return result }
    let subject: PredicateSubject? = subject(expression)
    let text: String = Printer.print(expression)
    let end: String = subject?.property?.name ?? "the value"
    report(
      PredicateProblem(
        .keyBehindValue, part: text, keyPath: subject?.keyPath ?? text, name: key,
        entity: subject?.property?.entity?.name, property: subject?.property?.name,
        reason: "\(end) is \(value.kindName), which has no key \(key)", advice: "End the path at \(end)."))
    return nil
  }

  private mutating func step(
    _ key: String, from entity: NSEntityDescription, of expression: ExpressionNode
  ) -> PathPlace {
    guard let property = entity.propertiesByName[key] else {
      switch key {
      case "self", "objectID": return .object(entity)
      // The keys of a description are not checked.
      case "entity": return .value(nil)
      default:
        report(unknownKey(key, entity, expression))
        return .value(nil)
      }
    }
    if findsWarnings { warnIfNotStored(property, expression) }
    switch property {
    case let attribute as NSAttributeDescription: return .value(attribute.exampleValue)
    case let relationship as NSRelationshipDescription:
      guard let destination = relationship.destinationEntity else { return .value(nil) }
      guard relationship.isToMany else { return .object(destination) }
      return .value(SampleEvaluation.many(.example(of: destination), isOrdered: relationship.isOrdered))
    case let fetched as NSFetchedPropertyDescription:
      return .value(
        (fetched.fetchRequest?.entity).map { SampleEvaluation.many(.example(of: $0), isOrdered: true) })
    default: return .value(nil)
    }
  }

  private mutating func read(
    _ key: String, from composite: NSCompositeAttributeDescription, _ value: PredicateValue,
    of expression: ExpressionNode
  ) -> PredicateValue? {
    if let element = composite.elements.first(where: { $0.name == key }) { return element.exampleValue }
    if key == "self" { return value }
    let names: [String] = composite.elements.map(\.name)
    report(
      PredicateProblem(
        .unknownKey, part: Printer.print(expression), keyPath: Printer.print(expression), name: key,
        entity: composite.entity?.name, property: composite.name, nearest: NearestNames.of(key, among: names),
        reason: "the composite attribute \(composite.name) has no element \(key)",
        advice: NearestNames.advice(for: key, among: names)))
    return nil
  }

  private func unknownKey(_ key: String, _ entity: NSEntityDescription, _ expression: ExpressionNode)
    -> PredicateProblem
  {
    let path: String = Printer.print(expression)
    let name: String = entity.name ?? ""
    let known: [String] = Array(entity.propertiesByName.keys)
    let heir: NSEntityDescription? = entity.familyInStoreOrder.first { $0.propertiesByName[key] != nil }
    let start: String = startEntity(of: expression)?.name ?? name
    return PredicateProblem(
      .unknownKey, part: path, keyPath: path, name: key, entity: name,
      nearest: NearestNames.of(key, among: known),
      reason: "keypath \(path) not found in entity \(start)"
        + (path == key ? "" : ": \(name) has no property '\(key)'"),
      advice: heir.map {
        "The sub-entity \($0.name ?? "") has it: fetch that entity, or move the property up."
      }
        ?? NearestNames.advice(for: key, among: known))
  }

  /// Reports a property that only objects have, so that no store can evaluate it.
  private mutating func warnIfNotStored(_ property: NSPropertyDescription, _ expression: ExpressionNode) {
    let isUntyped: Bool = (property as? NSAttributeDescription)?.attributeType == .undefinedAttributeType
    guard property.isTransient || isUntyped else { return }
    let what: String =
      property is NSFetchedPropertyDescription
      ? "a fetched property" : isUntyped ? "without type" : "transient"
    report(
      PredicateProblem(
        .notStored, .warning, part: Printer.print(expression),
        subject: PredicateSubject(keyPath: Printer.print(expression), property: property),
        reason:
          "\(property.name) is \(what): no store holds it, so a fetch has to load the objects and evaluate this in memory",
        advice: "Compare a stored or derived attribute where there are many objects."))
  }

  // MARK: Collection operators

  private mutating func collect(
    _ mark: Substring, _ rest: Substring?, from value: PredicateValue?, before: Substring,
    of expression: ExpressionNode
  ) -> PredicateValue? {
    let name: String = String(mark.dropFirst())
    if refusesOperator(name, rest, expression) { return nil }
    guard let value, !value.isNull else { return nil }
    if case .dictionary = value, name == "count" { return .integer(1) }
    guard value.isCollection else {
      report(
        PredicateProblem(
          .notCollection, part: Printer.print(expression), subject: subject(expression),
          reason:
            "\(mark) needs a collection, and \(before.isEmpty ? "what it follows" : before) is \(value.kindName)",
          advice: "Put it behind a to-many relationship, as in items.\(mark)."))
      return nil
    }
    guard let rest else { return .integer(1) }
    guard let member = read(String(rest), from: .value(value.elements?.first), of: expression) else {
      return nil
    }
    do {
      return try SampleEvaluation.collect(name, member)
    } catch {
      report(
        PredicateProblem(
          .wrongType, part: Printer.print(expression), subject: subject(expression), error: error))
      return nil
    }
  }

  /// Reports an operator that doesn't exist, and one without the key that it needs.
  private mutating func refusesOperator(_ name: String, _ rest: Substring?, _ expression: ExpressionNode)
    -> Bool
  {
    let isKnown: Bool = CollectionOperator.names.contains(name)
    guard !isKnown || (name == "count") != (rest == nil) else { return false }
    let text: String = Printer.print(expression)
    let (reason, advice): (String, String) =
      if !isKnown {
        (
          "there is no collection operator @\(name)",
          NearestNames.advice(for: name, among: CollectionOperator.names)
        )
      } else if name == "count" {
        ("the path can't go on behind @count", "Write count(…) around the part before it.")
      } else {
        ("@\(name) needs a key behind it", "Write @\(name).price, or @\(name).#self for the members.")
      }
    report(
      PredicateProblem(
        .unknownOperator, part: text, keyPath: text, name: name,
        nearest: isKnown ? [] : NearestNames.of(name, among: CollectionOperator.names), reason: reason,
        advice: advice))
    return true
  }

  // MARK: For messages

  /// The property or object that an expression reads, when it is a path or the object itself.
  func subject(_ expression: ExpressionNode) -> PredicateSubject? {
    if expression == .evaluatedObject { return PredicateSubject(keyPath: Printer.print(expression)) }
    guard let path = expression.path else { return nil }
    var entity: NSEntityDescription? = startEntity(of: expression)
    var found: NSPropertyDescription?
    for component in path.split(separator: ".") where !component.hasPrefix("@") {
      guard let property = entity?.propertiesByName[String(component)] else { break }
      found = property
      entity = (property as? NSRelationshipDescription)?.destinationEntity
    }
    return PredicateSubject(keyPath: Printer.print(expression), property: found)
  }

  private func startEntity(of expression: ExpressionNode) -> NSEntityDescription? {
    let start: PredicateValue?
    switch expression {
    case .keyPath: return entity
    case .path(.variable(let name), _): start = variables[name] ?? nil
    case .path(.constant(let value), _): start = value
    default: return nil
    }
    guard case .entity(let entity)? = start?.exampleForm else { return nil }
    return entity
  }
}

extension ExpressionNode {
  /// The dotted path that the expression reads, when it is one.
  var path: String? {
    switch self {
    case .keyPath(let path), .path(_, let path): path
    default: nil
    }
  }

  var constant: PredicateValue? {
    if case .constant(let value) = self { value } else { nil }
  }

  var isAggregate: Bool {
    if case .aggregate = self { true } else { false }
  }
}

extension PredicateValue {
  var isCollection: Bool {
    switch self {
    case .array, .set: true
    default: false
    }
  }

  /// Whether members may be collections themselves; yes for an empty one.
  var holdsCollections: Bool {
    switch self {
    case .array(let members): members.first?.isCollection ?? true
    case .set(let members): members.first?.isCollection ?? true
    default: false
    }
  }

  /// A member of a collection, of the innermost one where collections are nested; a value itself when it is
  /// no collection.
  var innermostMember: PredicateValue? {
    var value: PredicateValue = self
    while let members = value.elements {
      guard let member = members.first else { return nil }
      value = member
    }
    return value
  }
}

extension NSEntityDescription {
  /// Whether an object can be of both entities. By name: a constant may stem from another copy of the model.
  func isRelated(to other: NSEntityDescription) -> Bool {
    inherits(fromEntityNamed: other.name) || other.inherits(fromEntityNamed: name)
  }

  private func inherits(fromEntityNamed name: String?) -> Bool {
    var current: NSEntityDescription? = self
    while let candidate = current {
      if candidate.name == name { return true }
      current = candidate.superentity
    }
    return false
  }
}
