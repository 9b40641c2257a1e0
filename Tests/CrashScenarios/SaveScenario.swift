import CoreData
import Foundation
import StackSupport

/// Three saves to a store: objects with large values are inserted, changed and deleted. In the scenarios that
/// create the store, a fourth one is before them.
public enum SaveScenario: String, CaseIterable, CrashScenario, CustomStringConvertible, Sendable {
  case wal, delete, xml, binary
  case newWAL, newDelete, newXML, newBinary

  public var description: String { "saves \(rawValue)" }

  public var type: String {
    switch self {
    case .wal, .delete, .newWAL, .newDelete: NSSQLiteStoreType
    case .xml, .newXML: NSXMLStoreType
    case .binary, .newBinary: NSBinaryStoreType
    }
  }

  private var journalMode: String? {
    switch self {
    case .wal, .newWAL: "WAL"
    case .delete, .newDelete: "DELETE"
    default: nil
    }
  }

  /// Whether there is no store when a process begins.
  public var creates: Bool { [.newWAL, .newDelete, .newXML, .newBinary].contains(self) }

  /// The saves of a process.
  public var steps: [Int] { creates ? [0, 1, 2, 3] : [1, 2, 3] }
  /// Large enough for a file of its own.
  private static let large: Int = 110_000

  public static let model: NSManagedObjectModel = {
    let photo: NSEntityDescription = World.entity(
      "Photo",
      [
        World.attribute("title", .stringAttributeType), World.attribute("data", .binaryDataAttributeType),
        World.attribute("thing", .binaryDataAttributeType),
      ])
    for name in ["data", "thing"] { photo.attributesByName[name]?.allowsExternalBinaryDataStorage = true }
    let album: NSEntityDescription = World.entity("Album", [World.attribute("title", .stringAttributeType)])
    World.pair(album, "photos", .many, .cascadeDeleteRule, photo, "album", .one, .nullifyDeleteRule)
    for entity in [photo, album] { entity.managedObjectClassName = "NSManagedObject" }
    let model = NSManagedObjectModel()
    model.entities = [photo, album]
    return model
  }()

  public func url(in folder: URL) -> URL { folder.appendingPathComponent("Photos.\(rawValue)") }

  public func open(_ folder: URL) throws -> NSManagedObjectContext { try open(at: url(in: folder)) }

  public func open(at url: URL) throws -> NSManagedObjectContext { try context(type, url, options) }

  var options: [AnyHashable: Any]? { journalMode.map { [NSSQLitePragmasOption: ["journal_mode": $0]] } }

  private func context(_ type: String, _ url: URL?, _ options: [AnyHashable: Any]?) throws
    -> NSManagedObjectContext
  {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
    try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  public static func close(_ context: NSManagedObjectContext) throws {
    guard let coordinator = context.persistentStoreCoordinator else { return }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  // MARK: The work

  private static func bytes(_ number: Int, _ count: Int = large) -> Data {
    Data(repeating: UInt8(number), count: count)
  }

  /// The changes of a save; those of save 0 make the store with which a process begins.
  public static func change(_ step: Int, _ context: NSManagedObjectContext) throws {
    let photos: [NSManagedObject] = try context.all(NSManagedObject.self, "Photo", sort: ["title"])
    let albums: [NSManagedObject] = try context.all(NSManagedObject.self, "Album")
    func add(_ number: Int, _ data: Data, _ thing: Data, _ album: NSManagedObject?) {
      let photo: NSManagedObject = context.make(
        "Photo", ["title": "photo \(number)", "data": data, "thing": thing])
      photo.setValue(album, forKey: "album")
    }
    switch step {
    case 0:
      let album: NSManagedObject = context.make("Album", ["title": "first"])
      for number in 1...3 { add(number, bytes(number), bytes(number, 20), album) }
    case 1:
      add(4, bytes(40), bytes(41), albums.first)
      add(5, bytes(50), bytes(51, 3000), nil)
    case 2:
      photos[0].setValue(bytes(11), forKey: "data")
      photos[1].setValue(bytes(21, 10), forKey: "data")
      photos[2].setValue(bytes(31), forKey: "thing")
      albums[0].setValue("second", forKey: "title")
    default:
      context.delete(photos[0])
      context.delete(photos[3])
      add(6, bytes(60), bytes(61, 10), albums.first)
    }
  }

  /// What the store holds, a line an object.
  public static func state(_ context: NSManagedObjectContext) throws -> [String] {
    func value(_ object: NSManagedObject, _ key: String) -> String {
      guard let data = object.value(forKey: key) as? Data, let first = data.first else { return "nothing" }
      return data.allSatisfy { $0 == first } ? "\(data.count) of \(first)" : "a mixture"
    }
    return try context.performAndWait {
      context.reset()
      return try context.all(NSManagedObject.self, "Photo").map { photo in
        let album = photo.value(forKey: "album") as? NSManagedObject
        return
          "\(photo.value(forKey: "title") ?? "nil"): \(value(photo, "data")), \(value(photo, "thing")), "
          + "\(album?.value(forKey: "title") ?? "no album")"
      }.sorted()
    }
  }

  /// What the store holds after each number of the process's saves.
  public func states() throws -> [[String]] {
    let context: NSManagedObjectContext = try context(NSInMemoryStoreType, nil, nil)
    let all: [[String]] = try (0...3).map { step in
      try Self.save(step, context)
      return try Self.state(context)
    }
    return creates ? [[]] + all : all
  }

  public static func save(_ step: Int, _ context: NSManagedObjectContext) throws {
    try context.performAndWait {
      try change(step, context)
      try context.save()
    }
  }

  public func prepare(_ folder: URL) throws {
    if creates { return }
    let context: NSManagedObjectContext = try open(folder)
    try Self.save(0, context)
    try Self.close(context)
  }

  public func run(in folder: URL) throws -> [String] {
    var open: NSManagedObjectContext?
    var done: Int = 0
    var faults: [String] = []
    while done < steps.count {
      do {
        let context: NSManagedObjectContext = try open ?? self.open(folder)
        open = context
        try Self.save(steps[done], context)
        done += 1
        CrashPoint.note(done)
      } catch {
        guard CrashPoint.lift(), faults.isEmpty else { return faults + ["\(faultMark) \(text(of: error))"] }
        faults = try problems(after: error, done, folder)
        // The same context goes on: there is space again.
        open?.performAndWait { open?.rollback() }
        if !faults.isEmpty { return faults }
      }
    }
    if let open { try Self.close(open) }
    return faults
  }

  /// After an error for want of space.
  private func problems(after error: any Error, _ done: Int, _ folder: URL) throws -> [String] {
    var faults: [String] = []
    if !text(of: error).contains(url(in: folder).path) {
      faults.append("\(faultMark) the error does not name the file: \(text(of: error))")
    }
    let other: NSManagedObjectContext = try open(folder)
    let state: [String] = try Self.state(other)
    if state != (try states())[done] {
      faults.append("\(faultMark) after a failed save \(done + 1) the store holds \(state)")
    }
    try Self.close(other)
    return faults
  }
}
