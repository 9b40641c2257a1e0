import CoreDataArchives
import Foundation
import Testing

@testable import CoreDataModel
@testable import CoreDataPredicates

/// Predicates, expressions and sort descriptors that Apple's compilers archived, taken out of their models
/// and read as archives of their own.
@Suite(
  .enabled(
    if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"))
struct ArchivedPredicateTests {
  private struct Sample {
    var file: String
    var index: Int
    var className: String
    var archive: KeyedArchive

    /// The one object and all it refers to.
    var data: Data { KeyedArchive.data(objects: archive.objects, root: .uid(index)) }
  }

  /// Every object of those classes in Apple's compiled models, and in the models cached in stores.
  private static func samples(_ isWanted: (String) -> Bool) throws -> [Sample] {
    var archives: [(file: String, data: Data)] = try FixtureFolder.find(["mom", "cdm"], under: "").map {
      (FixtureFolder.relative($0), try Data(contentsOf: $0))
    }
    for store in StoreBlobs.isPossible ? StoreBlobs.stores() : [] {
      guard let blob = try StoreBlobs.read(store)?.model else { continue }
      archives.append((FixtureFolder.relative(store), try RawDeflate.expand(blob)))
    }
    var samples: [Sample] = []
    for (file, data) in archives {
      let archive = try KeyedArchive(data)
      for index in archive.objects.indices {
        guard let record = try archive.record(at: index), isWanted(record.className) else { continue }
        samples.append(
          Sample(file: file, index: index, className: record.className, archive: archive))
      }
    }
    return samples
  }

  @Test func `Apple's archived predicates read as they do inside their models, and come back`() throws {
    let samples = try Self.samples { $0.hasSuffix("Predicate") }
    for sample in samples {
      let inModel = try PredicateArchiveReader(sample.archive).predicate(.uid(sample.index), of: "test")
      let alone = try NSPredicate(archivedData: sample.data)
      #expect(alone == inModel, "\(sample.file): \(sample.className)")
      #expect(try NSPredicate(archivedData: alone.archivedData()) == inModel, "\(sample.file)")
      #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPredicate.self, from: sample.data) == inModel)
    }
    print("\(samples.count) predicates: \(Set(samples.map(\.className)).sorted().joined(separator: ", "))")
    #expect(samples.count >= 15)
  }

  @Test func `Foundation's unarchiver decodes them too, once it knows the names`() throws {
    for sample in try Self.samples({ $0.hasSuffix("Predicate") }) {
      let inModel = try PredicateArchiveReader(sample.archive).predicate(.uid(sample.index), of: "test")
      let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSPredicate.self], from: sample.data)
      #expect(decoded as? NSPredicate == inModel, "\(sample.file)")
    }
  }

  @Test func `Apple's archived expressions read as they do inside their models`() throws {
    let samples = try Self.samples { $0.hasSuffix("Expression") && $0 != "NSKeyPathSpecifierExpression" }
    // Methods of the migration manager, which mapping models call; and the target of built-in
    // functions, no expression.
    let foreign = [
      "destinationInstancesForEntityMappingNamed:sourceInstances:",
      "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
      "fetchRequestForSourceEntityNamed:predicateString:",
      "class _NSPredicateUtilities where a value belongs",
    ]
    var refused = Set<String>()
    for sample in samples {
      let inModel = try PredicateArchiveReader(sample.archive).expression(.uid(sample.index), of: "test")
      do {
        let alone = try NSExpression(archivedData: sample.data)
        #expect(alone == inModel, "\(sample.file): \(sample.className)")
        #expect(try NSExpression(archivedData: alone.archivedData()) == inModel, "\(sample.file)")
      } catch let error as CoreDataPredicates.PredicateError {
        refused.insert(foreign.first { error.description.contains($0) } ?? error.description)
      }
    }
    print("\(samples.count) expressions: \(Set(samples.map(\.className)).sorted().joined(separator: ", "))")
    #expect(samples.count > 100)
    #expect(refused == Set(foreign))
  }

  @Test func `a mapping model's source expression prints as it was written`() throws {
    let fetches = try Self.samples { $0 == "NSFetchRequestExpression" }.map {
      try PredicateArchiveReader($0.archive).expression(.uid($0.index), of: "test").description
    }
    #expect(
      fetches.contains(
        """
        FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:" , "Car", "TRUEPREDICATE"), \
        $manager.sourceContext, 0)
        """), "\(fetches)")
  }

  @Test func `Apple's archived sort descriptors come back`() throws {
    let samples = try Self.samples { $0 == "NSSortDescriptor" }
    for sample in samples {
      let descriptor = try NSSortDescriptor(archivedData: sample.data)
      #expect(descriptor == NSSortDescriptor(key: "rating", ascending: true), "\(sample.file)")
      #expect(try NSSortDescriptor(archivedData: descriptor.archivedData()) == descriptor)
    }
    #expect(samples.count >= 2)
  }
}
