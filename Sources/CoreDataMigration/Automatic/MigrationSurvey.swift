import CoreDataGraph
import CoreDataModel
import CoreDataStorage
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a plan tells besides its steps: space, time, what to beware of, whether there is a way back.
struct MigrationSurvey {
  private let store: OutdatedStore
  private let file: StoreInspection
  private let steps: [MigrationPlan.Step]
  private let planned: PlannedMigration?

  /// `planned`: of a step in place.
  init(
    _ store: OutdatedStore, _ file: StoreInspection, _ steps: [MigrationPlan.Step],
    _ planned: PlannedMigration?
  ) {
    (self.store, self.file, self.steps, self.planned) = (store, file, steps, planned)
  }

  var isInPlace: Bool { planned != nil }

  // MARK: Space and time

  var neededSpace: Int64 { MigrationSpace(file: file, steps: steps).needed }

  /// Measured: a statement changes more than a million rows a second, objects are copied at some 20,000 a
  /// second, and a disk writes 200 MB a second.
  var seconds: Double {
    let bytes: Double = Double(file.byteCount) / 200_000_000
    if let planned { return Double(planned.steps.compactMap(\.rows).reduce(0, +)) / 1_000_000 + bytes }
    let objects: Int = file.entities.map(\.rows).reduce(0, +)
    return Double(steps.count) * (Double(objects) / 20_000 + bytes)
  }

  /// What the folder's volume has left; nil if the system does not say.
  private var freeSpace: Int64? {
    var facts = statvfs()
    guard statvfs(store.url.deletingLastPathComponent().path, &facts) == 0 else { return nil }
    return Int64(clamping: UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize)).0)
  }

  static func text(bytes: Int64) -> String {
    switch bytes {
    case ..<1_000_000: "\(max(1, (bytes + 999) / 1000)) kB"
    case ..<10_000_000_000: "\((bytes + 999_999) / 1_000_000) MB"
    default: "\((bytes + 999_999_999) / 1_000_000_000) GB"
    }
  }

  static func text(seconds: Double) -> String {
    switch seconds {
    case ..<1: "under a second"
    case ..<120: "some \(Int(seconds.rounded(.up))) seconds"
    default: "some \(Int((seconds / 60).rounded(.up))) minutes"
    }
  }

  // MARK: Warnings

  /// Where the store's structure differs from its model's.
  func drift() throws -> [StoreDrift] {
    guard let step = steps.first?.step, let kind = StoreRegistry.fileKind(ofType: store.type) else {
      return []
    }
    return try kind.drift(
      at: store.url, layout: ModelLayout(model: step.source),
      options: StoreOpeningOptions(apple: store.options))
  }

  func warnings(_ drift: [StoreDrift]) -> [String] {
    var warnings: [String] = []
    if let first = steps.first, first.step.isReadByObjects {
      warnings.append(
        "None of the versions that the program has wrote the store. It is read as \(first.source), which all of its objects fit."
      )
    }
    warnings += (planned?.notes ?? []) + steps.flatMap(\.leftToPolicies)
    warnings += drift.filter { isInPlace || $0.kind == .missing }.map(\.text)
    if let process = file.otherProcess {
      warnings.append(
        "The process \(process) has the store open. End it first, or it may read or write with the former model."
      )
    }
    if let free = freeSpace, free < neededSpace {
      warnings.append(
        "Only \(Self.text(bytes: free)) are free on the volume, and up to \(Self.text(bytes: neededSpace)) may be needed."
      )
    }
    return warnings
  }

  // MARK: The way back

  var obstaclesToReturn: [String] {
    if steps.count > 1 { return ["It takes \(steps.count) steps, one of them by a mapping model."] }
    guard let step = steps.first else { return [] }
    guard let difference = step.step.inference?.difference else {
      return ["A mapping model leads to \(step.destination), and nothing says how its values were before."]
    }
    let inverse = MappingInference(difference.inverse)
    return step.losses.map { "\($0): lost." } + changes(difference) + inverse.refusals.map(\.reason)
  }

  /// Values that are kept in another form, from which the former one can't be told.
  private func changes(_ difference: ModelDifference) -> [String] {
    var sentences: [String] = []
    for entity in difference.entities where entity.source?.isAbstract == false {
      for property in entity.properties {
        guard let new = property.destination, let old = property.storedSource else { continue }
        let place: String = "\(entity.name).\(new.name)"
        if old.isOptional, !new.isOptional, let value = (new as? NSAttributeDescription)?.defaultValue {
          sentences.append("\(place): objects without a value get \(value).")
        }
        sentences += Self.filled(property.elements, place)
        if let old = old as? NSRelationshipDescription, old.isOrdered,
          (new as? NSRelationshipDescription)?.isOrdered == false
        {
          sentences.append("\(place): the order of the objects is lost.")
        }
      }
    }
    return sentences
  }

  /// Elements of a composite attribute that have become required.
  private static func filled(_ elements: [ElementDifference], _ place: String) -> [String] {
    elements.flatMap { element -> [String] in
      guard let old = element.source, let new = element.destination else { return [] }
      let inner: String = "\(place).\(new.name)"
      let own: [String] =
        old.isOptional && !new.isOptional
        ? new.defaultValue.map { ["\(inner): objects without a value get \($0)."] } ?? [] : []
      return own + filled(element.elements, inner)
    }
  }
}
