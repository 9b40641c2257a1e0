import CoreData
import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// A save or a load of one contestant. A load needs the file of a save, and makes it if there is none.
struct FilePass {
  let contestant: FileContestant
  let rows: Int
  let folder: URL

  private var file: URL {
    folder.appendingPathComponent("items.\(contestant == .parser ? "xml" : contestant.rawValue)")
  }

  func run(_ name: FileCase) throws -> FileMeasurement {
    if name == .load, !FileManager.default.fileExists(atPath: file.path) { _ = try save() }
    var measurement: FileMeasurement = try name == .save ? save() : load()
    measurement.peak = try Memory.peak()
    measurement.size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
    return measurement
  }

  private func timed(_ body: () throws -> UInt64) rethrows -> FileMeasurement {
    _ = try? Memory.startOver()
    let start = ContinuousClock.now
    let sum: UInt64 = try body()
    let duration: Duration = ContinuousClock.now - start
    return FileMeasurement(seconds: duration / .seconds(1), peak: 0, size: 0, checksum: sum)
  }

  private func open() throws -> NSManagedObjectContext {
    let coordinator = try NSPersistentStoreCoordinator(managedObjectModel: BenchStore.model("Items"))
    let types: [FileContestant: String] = [
      .xml: NSXMLStoreType, .parser: NSXMLStoreType, .binary: NSBinaryStoreType, .sqlite: NSSQLiteStoreType,
    ]
    try coordinator.addPersistentStore(
      ofType: types[contestant] ?? "", configurationName: nil, at: file, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  // MARK: Saving

  private func save() throws -> FileMeasurement {
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
    let samples: [Sample] = Sample.make(count: rows)
    if contestant == .json {
      let values: [Values] = samples.map { Values($0) }
      return try timed {
        try JSONEncoder().encode(values).write(to: file, options: .atomic)
        return UInt64(rows)
      }
    }
    let context: NSManagedObjectContext = try open()
    return try context.performAndWait {
      for sample in samples {
        let item = BenchItem(context: context)
        (item.number, item.section, item.quantity) = (sample.number, sample.section, sample.quantity)
        (item.priority, item.price, item.weight) = (sample.priority, sample.price, sample.weight)
        (item.code, item.title, item.note) = (sample.code, sample.title, sample.note)
        item.done = sample.done
      }
      return try timed {
        try context.save()
        return UInt64(rows)
      }
    }
  }

  // MARK: Loading

  private func load() throws -> FileMeasurement {
    switch contestant {
    case .json:
      return try timed {
        let values: [Values] = try JSONDecoder().decode([Values].self, from: try Data(contentsOf: file))
        return values.reduce(0) { $0 &+ $1.sum }
      }
    case .parser:
      return try timed {
        let counter = ElementCounter()
        // Given data, the parser refuses more than 10 MB.
        let parser = XMLParser(stream: InputStream(data: try Data(contentsOf: file)))
        parser.shouldResolveExternalEntities = false
        parser.delegate = counter
        guard parser.parse() else { throw BenchmarkError("The document can't be parsed.") }
        return counter.count
      }
    case .xml, .binary, .sqlite:
      return try timed {
        let context: NSManagedObjectContext = try open()
        return try context.performAndWait {
          try context.fetch(BenchItem.fetchRequest()).reduce(0) { $0 &+ Values($1).sum }
        }
      }
    }
  }
}

private final class ElementCounter: NSObject, XMLParserDelegate {
  var count: UInt64 = 0

  func parser(
    _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) { count += 1 }
}

/// The ten values as JSON has them.
private struct Values: Codable {
  var number: Int64
  var section: Int32
  var quantity: Int32
  var priority: Int16
  var price: Double
  var weight: Double
  var code: String
  var title: String
  var note: String
  var done: Bool

  init(_ sample: Sample) {
    (number, section, quantity) = (sample.number, sample.section, sample.quantity)
    (priority, price, weight) = (sample.priority, sample.price, sample.weight)
    (code, title, note, done) = (sample.code, sample.title, sample.note, sample.done)
  }

  init(_ item: BenchItem) {
    (number, section, quantity) = (item.number, item.section, item.quantity)
    (priority, price, weight) = (item.priority, item.price, item.weight)
    (code, title, note, done) = (item.code ?? "", item.title ?? "", item.note ?? "", item.done)
  }

  /// The same in any order of the objects.
  var sum: UInt64 {
    UInt64(bitPattern: number) &+ UInt64(section.magnitude) &+ UInt64(quantity.magnitude)
      &+ UInt64(priority.magnitude) &+ price.bitPattern &+ weight.bitPattern &+ (done ? 1 : 0)
      &+ UInt64(code.utf8.count + title.utf8.count + note.utf8.count)
  }
}
