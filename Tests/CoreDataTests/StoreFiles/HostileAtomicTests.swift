import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Stores that are one file: those that Apple's framework wrote, and damaged ones.
@Suite
struct HostileAtomicTests {
  // MARK: One fault each

  private static func open(_ type: String, _ url: URL) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func `an element with attributes without end is refused before it is parsed`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("a.xml")
    let context: NSManagedObjectContext = try Self.open(NSXMLStoreType, url)
    try context.performAndWait {
      // What is quoted, or in a comment, is no attribute.
      _ = context.item(String(repeating: "a='b' ", count: 1000))
      try context.save()
    }
    let text = try String(contentsOf: url, encoding: .utf8)
    let comment: String = "<!-- <a \(String(repeating: "b='c' ", count: 1000))> -->"
    try Data(text.replacing("<object", with: comment + "<object").utf8).write(to: url)
    #expect(try Self.open(NSXMLStoreType, url).storedTitles.count == 1)
    let crowd: String = (0..<100_000).map { "a\($0)='\($0)'" }.joined(separator: " ")
    try Data(text.replacing("<object ", with: "<object \(crowd) ").utf8).write(to: url)
    let error: String = errorThrown { _ = try Self.open(NSXMLStoreType, url) }?.localizedDescription ?? ""
    #expect(error.contains("has more than 256 attributes") && error.contains(url.path), "\(error)")
  }

  @Test(arguments: [NSXMLStoreType, NSBinaryStoreType])
  func `a save after another one's says so, and folders that are not there are not forbidden`(type: String)
    throws
  {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("a.store")
    let contexts: [NSManagedObjectContext] = try [Self.open(type, url), Self.open(type, url)]
    try contexts[0].performAndWait {
      _ = contexts[0].item("mine")
      try contexts[0].save()
    }
    contexts[1].performAndWait {
      _ = contexts[1].item("theirs")
      let text: String = errorThrown { try contexts[1].save() }?.localizedDescription ?? ""
      #expect(text.contains("was saved or replaced by another process or coordinator"), "\(text)")
      #expect(text.contains(url.path) && !text.contains("removed"), "\(text)")
    }
    let nowhere: URL = folder.file("no/such/a.store")
    let coordinator = try #require(contexts[0].persistentStoreCoordinator)
    let store: NSPersistentStore = try #require(coordinator.persistentStores.first)
    let failures: [NSError?] = [
      errorThrown { _ = try Self.open(type, nowhere) },
      errorThrown {
        try NSPersistentStoreCoordinator.setMetadata(
          ["a": 1], forPersistentStoreOfType: type, at: nowhere, options: nil)
      },
      errorThrown {
        try coordinator.migratePersistentStore(store, to: nowhere, options: nil, type: .init(rawValue: type))
      },
    ]
    for failure in failures {
      let text: String = failure?.localizedDescription ?? "nothing thrown"
      #expect(text.contains("No such file or directory") && text.contains("no/such"), "\(text)")
    }
  }

  // MARK: Files of Apple's framework

  @Test(
    .enabled(
      if: !AppleStore.documents.isEmpty, "There are no fixtures; set CLARUS_FIXTURES to their folder."),
    arguments: AppleStore.documents)
  func `a document of Apple's framework is read whole, and written again without loss`(url: URL) throws {
    let folder = try TemporaryFolder()
    let copy: URL = folder.file("a.xml")
    let text = try String(contentsOf: url, encoding: .utf8)
    try Data(text.utf8).write(to: copy)
    let values: Set<String> = Set(Self.attributes(text))
    let context: NSManagedObjectContext = try AppleStore(url).open(copy)
    try context.performAndWait {
      let all: [NSManagedObject] = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "ROOT"))
      #expect(all.count == text.components(separatedBy: "<object ").count - 1)
      try Self.saveTwice(context)
    }
    #expect(Set(Self.attributes(try String(contentsOf: copy, encoding: .utf8))) == values)
  }

  /// Each attribute as text, the same for values that are spelled differently.
  private static func attributes(_ text: String) -> [String] {
    text.components(separatedBy: "<attribute ").dropFirst().compactMap { part in
      guard let end = part.range(of: "</attribute>") else { return nil }
      let line = String(part[..<end.lowerBound])
      guard line.contains("type=\"date\""), let start = line.range(of: ">"),
        let seconds = Double(line[start.upperBound...])
      else { return line }
      return "\(line[..<start.upperBound])\(seconds)"
    }
  }

  @Test(
    .enabled(if: !AppleStore.binaries.isEmpty, "There are no fixtures; set CLARUS_FIXTURES to their folder."),
    arguments: AppleStore.binaries)
  func `a binary file of Apple's framework is written again with its keys, classes and metadata`(
    url: URL
  ) throws {
    let folder = try TemporaryFolder()
    let copy: URL = folder.file("a.binary")
    let before = try BinaryFile(try Data(contentsOf: url))
    try Data(contentsOf: url).write(to: copy)
    let context: NSManagedObjectContext = try AppleStore(url).open(copy)
    try context.performAndWait {
      let all: [NSManagedObject] = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "ROOT"))
      #expect(all.count == before.nodes.count)
      try Self.saveTwice(context)
    }
    let after = try BinaryFile(try Data(contentsOf: copy))
    #expect(after.header == before.header)
    #expect(after.nodes == before.nodes)
    #expect(after.metadata == before.metadata)
    // Apple's framework also has texts of a class for mutable ones, where a program set such a text.
    #expect(after.classes.isSubset(of: before.classes), "\(after.classes.subtracting(before.classes))")
    for (name, fields) in after.fields {
      #expect(fields.isSubset(of: before.fields[name] ?? []), "\(name)")
    }
    #expect(after.metadataClasses.isSubset(of: before.metadataClasses))
    #expect(after.tops == before.tops)
  }

  /// Changes a value and saves, and changes it back.
  private static func saveTwice(_ context: NSManagedObjectContext) throws {
    let all: [NSManagedObject] = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "ROOT"))
    let any: NSManagedObject = try #require(all.first { !$0.entity.attributesByName.isEmpty })
    let key: String = try #require(any.entity.attributesByName.keys.sorted().first)
    let old: Any? = any.value(forKey: key)
    any.setValue(nil, forKey: key)
    try context.save()
    any.setValue(old, forKey: key)
    try context.save()
  }

  // MARK: Damage

  private static let seeds: Int = Soak.isOn ? 10_000 : 400

  @Test(arguments: [NSXMLStoreType, NSBinaryStoreType])
  func `damaged files are read or refused with words, and saves to them lose nothing`(type: String) throws {
    let folder = try TemporaryFolder()
    let sources: [DamagedSource] = try DamagedSource.all(type, in: folder)
    let damaged: URL = folder.file("d.store")
    var refused: Int = 0
    for seed in 0..<Self.seeds {
      var random = SeededRandom(seed: UInt64(seed))
      let source: DamagedSource = sources[seed % sources.count]
      try source.damagedBytes(&random).write(to: damaged)
      do {
        let opened: NSManagedObjectContext = try source.open(damaged)
        let before: [String] = try opened.performAndWait {
          let lines: [String] = try Self.dump(opened)
          _ = opened.make(source.newEntity)
          try opened.save()
          return lines
        }
        let again: NSManagedObjectContext = try source.open(damaged)
        let after: [String] = try again.performAndWait { try Self.dump(again) }
        let lost: Set<String> = Set(before).subtracting(after)
        #expect(lost.isEmpty, "seed \(seed): \(lost.sorted().prefix(3))")
        #expect(after.count == before.count + 1, "seed \(seed)")
      } catch let error as NSError {
        refused += 1
        #expect(error.domain == NSCocoaErrorDomain, "seed \(seed): \(error)")
        #expect(error.localizedDescription.contains(damaged.path), "seed \(seed): \(error)")
      }
    }
    #expect(refused > Self.seeds / 4)
  }

  /// Every object with its values, a line each.
  private static func dump(_ context: NSManagedObjectContext) throws -> [String] {
    var lines: [String] = []
    for entity in context.persistentStoreCoordinator?.managedObjectModel.entities ?? []
    where entity.superentity == nil {
      for object in try context.all(NSManagedObject.self, entity.name ?? "") {
        var line: String = object.objectID.uriRepresentation().lastPathComponent
        for (key, property) in object.entity.propertiesByName.sorted(by: { $0.key < $1.key }) {
          // A value that its transformer can't read would stop the program, whatever the kind of store.
          if (property as? NSAttributeDescription)?.attributeType == .transformableAttributeType { continue }
          let value: Any? = object.value(forKey: key)
          let members: [String]? =
            ((value as? NSSet)?.allObjects ?? (value as? NSOrderedSet)?.array
            ?? (value as? NSManagedObject)
            .map { [$0] })?
            .compactMap { ($0 as? NSManagedObject)?.objectID.uriRepresentation().lastPathComponent }
          line +=
            " \(key): \(members.map { "\(value is NSSet ? $0.sorted() : $0)" } ?? "\(value ?? "-")")"
        }
        lines.append(line)
      }
    }
    return lines
  }
}
