import Foundation

/// The records of a file.
enum ImportFile {
  /// `path`: a file, or a folder of CSV files, as `clarus export` makes it. `entity`: the one of records that
  /// name none.
  static func records(at path: String, isCSV: Bool?, entity: String?) throws -> [ImportRecord] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw CommandFailure("\(path): There is no such file.")
    }
    if isFolder.boolValue { return try records(inFolder: path, isCSV: isCSV, entity: entity) }
    let bytes: [UInt8] = try bytes(of: path)
    let isCSV: Bool = isCSV ?? (URL(fileURLWithPath: path).pathExtension.lowercased() == "csv")
    return try located(path) {
      var records: [ImportRecord] =
        isCSV ? try CSVReading.read(bytes) : try self.records(of: JSONReading.read(bytes))
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

  /// Each file has the objects of the entity whose name it has.
  private static func records(inFolder path: String, isCSV: Bool?, entity: String?) throws -> [ImportRecord] {
    if isCSV == false {
      throw CommandFailure("\(path): It is a folder, which has CSV files; name the one file with the JSON.")
    }
    if entity != nil {
      throw CommandFailure(
        "\(path): It is a folder, whose files have the names of their entities; --entity goes with one file.")
    }
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path)
        .filter { !$0.hasPrefix(".") && $0.lowercased().hasSuffix(".csv") }.sorted()
    } catch {
      throw CommandFailure("\(path): The folder can't be read. \(ErrorText.line(for: error))")
    }
    guard !names.isEmpty else {
      throw CommandFailure(
        "\(path): There is no CSV file in the folder. One such as Item.csv has the objects of the entity Item."
      )
    }
    return try names.flatMap { name in
      let url: URL = URL(fileURLWithPath: path).appendingPathComponent(name)
      let file: String = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
      let own: String = url.deletingPathExtension().lastPathComponent
      return try located(file) {
        var records: [ImportRecord] = try CSVReading.read(try bytes(of: file), file: file)
        for place in records.indices { records[place].entity = Self.entity(of: records[place]) ?? own }
        return records
      }
    }
  }

  private static func bytes(of path: String) throws -> [UInt8] {
    let url = URL(fileURLWithPath: path)
    let type =
      try? FileManager.default.attributesOfItem(
        atPath: url.resolvingSymlinksInPath().path)[.type] as? FileAttributeType
    // Reading a pipe would wait for its writer.
    guard type == .typeRegular else {
      throw CommandFailure("\(path): It is no regular file; name a JSON or CSV file with the objects.")
    }
    do {
      return [UInt8](try Data(contentsOf: url))
    } catch {
      throw CommandFailure("\(path): The file can't be read. \(ErrorText.line(for: error))")
    }
  }

  /// Errors with the file, the line and the column.
  static func located<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as ImportError {
      let path: String = error.position.file ?? path
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
