import Foundation

/// The records of a file.
enum ImportFile {
  /// `entity`: the one of records that name none.
  static func records(at path: String, isCSV: Bool?, entity: String?) throws -> [ImportRecord] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw CommandFailure("\(path): There is no such file.")
    }
    let type =
      try? FileManager.default.attributesOfItem(
        atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)[.type] as? FileAttributeType
    guard !isFolder.boolValue, type == .typeRegular else {
      throw CommandFailure(
        "\(path): It is \(isFolder.boolValue ? "a folder" : "no regular file"); name a JSON or CSV file with the objects."
      )
    }
    let url = URL(fileURLWithPath: path)
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch {
      throw CommandFailure("\(path): The file can't be read. \(ErrorText.line(for: error))")
    }
    let isCSV: Bool = isCSV ?? (url.pathExtension.lowercased() == "csv")
    return try located(path) {
      var records: [ImportRecord] =
        isCSV ? try CSVReading.read([UInt8](data)) : try self.records(of: JSONReading.read([UInt8](data)))
      for place in records.indices where records[place].entity == nil {
        records[place].entity = Self.entity(of: records[place]) ?? entity
        guard records[place].entity != nil else {
          throw ImportError(
            records[place].position, "The object names no entity; give one with --entity, or as \"$entity\".")
        }
      }
      return records
    }
  }

  /// Errors with the file, the line and the column.
  static func located<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as ImportError {
      throw CommandFailure("\(path):\(error.position.line):\(error.position.column): \(error.reason)")
    }
  }

  private static func entity(of record: ImportRecord) -> String? {
    if case .string(let name)? = record.field("$entity")?.content { return name }
    if case .string(let id)? = record.field("$id")?.content { return ObjectIDText(id)?.entity }
    return nil
  }

  /// An array of objects, the document of `clarus export`, or an object of arrays by entity.
  private static func records(of value: ImportValue) throws -> [ImportRecord] {
    switch value.content {
    case .list(let members): return try members.map { try record($0, nil) }
    case .object(let fields):
      if let objects = fields.first(where: { $0.name == "objects" })?.value,
        fields.contains(where: { $0.name == "clarus" }), case .list(let members) = objects.content
      {
        return try members.map { try record($0, nil) }
      }
      return try fields.flatMap { field in
        guard case .list(let members) = field.value.content else {
          throw ImportError(field.value.position, "Here an array of objects of \(field.name) is expected.")
        }
        return try members.map { try record($0, field.name) }
      }
    default: throw ImportError(value.position, "Here an array of objects is expected.")
    }
  }

  private static func record(_ value: ImportValue, _ entity: String?) throws -> ImportRecord {
    guard case .object(let fields) = value.content else {
      throw ImportError(value.position, "Here an object is expected, and there is \(value.kindName).")
    }
    return ImportRecord(entity: entity, fields: fields, position: value.position)
  }
}
