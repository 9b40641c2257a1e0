import CoreDataArchives
import CoreDataPredicates
import Foundation

/// The keyed archive of a mapping model, as Xcode's compiler writes it into a `.cdm` file.
///
///     NSMappingModel     NSEntityMappings (in order), NSEntityMappingsByName
///     NSEntityMapping    names, hashes, type, source expression, policy, mappings, user info
///     NSPropertyMapping  NSDestinationPropertyName, NSValueExpression, NSUserInfo, NSPropertyTransforms (nil)
enum MappingArchive {
  static func read(_ data: Data, file: String) throws -> NSMappingModel {
    do {
      var reader = try MappingArchiveReader(KeyedArchive(data))
      return try reader.model()
    } catch let error as PlistError {
      throw ModelFileError(
        file: file,
        reason:
          "This is not a readable compiled mapping model: \(error.reason). Compile it again or restore it from a backup."
      )
    }
  }

  static func write(_ model: NSMappingModel) throws -> Data {
    do {
      var writer = MappingArchiveWriter()
      return try writer.write(model)
    } catch let error as PlistError {
      throw ModelFileError(file: "mapping model archive", reason: "\(error.reason).")
    }
  }
}

private struct MappingArchiveReader {
  private let archive: KeyedArchive
  private var values: KeyedArchive.ValueDecoder
  private let predicates: PredicateArchiveReader
  /// An archive can name one object many times, so that reading it takes longer than its size allows.
  private var remaining: Int

  init(_ archive: KeyedArchive) {
    self.archive = archive
    values = KeyedArchive.ValueDecoder(archive, allowsUndefinedDates: false)
    predicates = PredicateArchiveReader(archive)
    remaining = 1000 + archive.objects.count
  }

  mutating func model() throws -> NSMappingModel {
    guard let index = try archive.index(archive.top["root"]), let root = try archive.record(at: index) else {
      throw PlistError("the archive has no root object")
    }
    guard root.isKind(of: "NSMappingModel") else {
      throw PlistError("the archive holds a \(root.className), not an NSMappingModel")
    }
    let model = NSMappingModel()
    model.entityMappings = try records(root, "NSEntityMappings", "NSEntityMapping").map {
      try entityMapping($0)
    }
    return model
  }

  private mutating func entityMapping(_ record: KeyedArchive.Record) throws -> NSEntityMapping {
    let mapping = NSEntityMapping()
    mapping.sourceEntityName = try string(record, "NSSourceEntityName")
    mapping.destinationEntityName = try string(record, "NSDestinationEntityName")
    mapping.name = try string(record, "NSMappingName")
    let label: String = "entity mapping '\(mapping.name ?? "")'"
    let code: Int64
    switch try archive.resolve(record.fields["NSMappingType"]) {
    case nil: code = 0
    case .integer(let value): code = value
    case let other?: throw PlistError("the type of \(label) is \(other.kind), not a number")
    }
    guard code >= 0, let type = NSEntityMappingType(rawValue: UInt(code)) else {
      throw PlistError("\(label) has the unknown type \(code)")
    }
    mapping.mappingType = type
    mapping.sourceEntityVersionHash = try data(record, "NSSourceEntityVersionHash", label)
    mapping.destinationEntityVersionHash = try data(record, "NSDestinationEntityVersionHash", label)
    mapping.entityMigrationPolicyClassName = try string(record, "NSEntityMigrationPolicyClassName")
    mapping.sourceExpression = try expression(record, "NSSourceExpression", label)
    mapping.userInfo = try userInfo(record, label)
    mapping.attributeMappings = try propertyMappings(record, "NSAttributeMappings", label)
    mapping.relationshipMappings = try propertyMappings(record, "NSRelationshipMappings", label)
    return mapping
  }

  private mutating func propertyMappings(
    _ record: KeyedArchive.Record, _ key: String, _ label: String
  ) throws -> [NSPropertyMapping]? {
    guard try archive.index(record.fields[key]) != nil else { return nil }
    var result: [NSPropertyMapping] = []
    for record in try records(record, key, "NSPropertyMapping") {
      let mapping = NSPropertyMapping()
      mapping.name = try string(record, "NSDestinationPropertyName")
      mapping.valueExpression = try expression(
        record, "NSValueExpression", "property '\(mapping.name ?? "")' in \(label)")
      mapping.userInfo = try userInfo(record, label)
      result.append(mapping)
    }
    return result
  }

  // MARK: Fields

  private mutating func records(
    _ owner: KeyedArchive.Record, _ key: String, _ kind: String
  ) throws -> [KeyedArchive.Record] {
    guard let index = try archive.index(owner.fields[key]), let list = try archive.record(at: index) else {
      return []
    }
    guard case .array(let members) = try archive.resolve(list.fields["NS.objects"]) else {
      throw PlistError("\(key) is a \(list.className) where a list belongs")
    }
    remaining -= members.count
    guard remaining > 0 else { throw PlistError("its lists name the same objects again and again") }
    return try members.map { member in
      guard let index = try archive.index(member), let record = try archive.record(at: index),
        record.isKind(of: kind)
      else { throw PlistError("\(key) holds something that is no \(kind)") }
      return record
    }
  }

  private mutating func string(_ record: KeyedArchive.Record, _ key: String) throws -> String? {
    guard let value = try values.value(record.fields[key]) else { return nil }
    guard let text = value as? String else {
      throw PlistError("\(key) of object \(record.index) (\(record.className)) is no string")
    }
    return text
  }

  private mutating func data(_ record: KeyedArchive.Record, _ key: String, _ label: String) throws -> Data? {
    guard let value = try values.value(record.fields[key]) else { return nil }
    guard let data = value as? Data else { throw PlistError("\(key) of \(label) is no data") }
    return data
  }

  private func expression(
    _ record: KeyedArchive.Record, _ key: String, _ label: String
  ) throws -> CoreDataPredicates.NSExpression? {
    guard try archive.index(record.fields[key]) != nil else { return nil }
    return try predicates.expression(record.fields[key], of: label)
  }

  private mutating func userInfo(_ record: KeyedArchive.Record, _ label: String) throws
    -> [AnyHashable: Any]?
  {
    guard let value = try values.value(record.fields["NSUserInfo"]) else { return nil }
    guard let info = value as? [AnyHashable: Any] else {
      throw PlistError("the user info of \(label) is no dictionary")
    }
    return info
  }
}

private struct MappingArchiveWriter {
  private var archive = KeyedArchiveWriter()

  mutating func write(_ model: NSMappingModel) throws -> Data {
    let root: Int = archive.reserve()
    var list: [PlistNode] = []
    var byName: [String: PlistNode] = [:]
    for mapping in model.entityMappings ?? [] {
      let node: PlistNode = try write(mapping)
      list.append(node)
      if byName[mapping.name] == nil { byName[mapping.name] = node }
    }
    archive.fill(
      root, ["NSMappingModel", "NSObject"],
      [
        "NSEntityMappings": archive.array(list),
        "NSEntityMappingsByName": archive.dictionary(byName, mutable: true),
      ])
    return archive.data(root: .uid(root))
  }

  private mutating func write(_ mapping: NSEntityMapping) throws -> PlistNode {
    let label: String = "entity mapping '\(mapping.name ?? "")'"
    let place: Int = archive.reserve()
    archive.fill(
      place, ["NSEntityMapping", "NSObject"],
      [
        "NSMappingName": archive.string(mapping.name),
        "NSMappingType": .integer(Int64(mapping.mappingType.rawValue)),
        "NSSourceEntityName": archive.string(mapping.sourceEntityName),
        "NSSourceEntityVersionHash": data(mapping.sourceEntityVersionHash),
        "NSDestinationEntityName": archive.string(mapping.destinationEntityName),
        "NSDestinationEntityVersionHash": data(mapping.destinationEntityVersionHash),
        "NSEntityMigrationPolicyClassName": archive.string(mapping.entityMigrationPolicyClassName),
        "NSSourceExpression": try expression(mapping.sourceExpression, label),
        "NSUserInfo": try archive.value(mapping.userInfo, of: label),
        "NSAttributeMappings": try write(mapping.attributeMappings, label),
        "NSRelationshipMappings": try write(mapping.relationshipMappings, label),
      ])
    return .uid(place)
  }

  private mutating func write(_ mappings: [NSPropertyMapping]?, _ label: String) throws -> PlistNode {
    guard let mappings else { return KeyedArchiveWriter.null }
    var nodes: [PlistNode] = []
    for mapping in mappings {
      let label: String = "property '\(mapping.name ?? "")' in \(label)"
      nodes.append(
        archive.instance(
          ["NSPropertyMapping", "NSObject"],
          [
            "NSDestinationPropertyName": archive.string(mapping.name),
            "NSValueExpression": try expression(mapping.valueExpression, label),
            "NSUserInfo": try archive.value(mapping.userInfo, of: label),
            "NSPropertyTransforms": KeyedArchiveWriter.null,
          ]))
    }
    return archive.array(nodes)
  }

  private mutating func data(_ data: Data?) -> PlistNode {
    data.map { archive.plain(.data($0)) } ?? KeyedArchiveWriter.null
  }

  private mutating func expression(
    _ expression: CoreDataPredicates.NSExpression?, _ label: String
  ) throws -> PlistNode {
    guard let expression else { return KeyedArchiveWriter.null }
    return try PredicateArchiveWriter(label: label, isForModels: true)
      .write(expression.expressionNode(), to: &archive)
  }
}
