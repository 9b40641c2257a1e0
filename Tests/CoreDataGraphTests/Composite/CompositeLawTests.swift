import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Random changes to the elements of composite attributes, and the same to plain attributes beside them:
/// whatever happens, both have the same values, and predicates find the same objects by them.
@Suite
struct CompositeLawTests {
  private static let seeds: [UInt64] = {
    if let given = Seed.given { return [given] }
    return Array(1...(ProcessInfo.processInfo.environment["CLARUS_SOAK"] == "1" ? 300 : 10))
  }()

  @Test(arguments: StoreKind.allCases, seeds)
  func `elements go the way of plain attributes`(kind: StoreKind, seed: UInt64) throws {
    let stack = try Stack(kind, model: Atlas.model)
    var random = SeededRandom(seed: seed)
    var log: [String] = []
    try stack.run { context in
      let undo = UndoManager()
      context.undoManager = undo
      for step in 1...60 {
        let places: [NSManagedObject] = try context.all(NSManagedObject.self, "Place", sort: ["name"])
        let place: NSManagedObject? = places.randomElement(using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0...1:
          log.append("insert")
          _ = context.make("Place", ["name": "p\(step)"])
        case 2...4: if let place { setElement(place, &random, &log) }
        case 5...6: if let place { setWhole(place, &random, &log) }
        case 7:
          log.append("delete")
          if places.count > 3, let place { context.delete(place) }
        default: break
        }
        context.processPendingChanges()
        switch Int.random(in: 0..<12, using: &random) {
        case 0: if undo.canUndo { context.undo() }
        case 1: if undo.canRedo { context.redo() }
        case 2...4:
          log.append("save")
          try context.save()
          for object in context.registeredObjects where step % 2 == 0 {
            context.refresh(object, mergeChanges: false)
          }
        default: break
        }
        let differences: [String] = try differences(context)
        if !differences.isEmpty {
          Issue.record(
            "seed \(seed), \(kind.rawValue), step \(step): \(differences.prefix(4)) \(log.suffix(12).joined(separator: ", "))"
          )
          return
        }
      }
      try context.save()
      #expect(try differences(context).isEmpty)
    }
    #expect(try stack.elsewhere { try differences($0) }.isEmpty, "seed \(seed)")
  }

  private func text(_ random: inout SeededRandom) -> String {
    ["a", "Äb", "c d", ""][Int.random(in: 0..<4, using: &random)]
  }

  private func value(_ twin: String, _ random: inout SeededRandom) -> Any {
    switch twin {
    case "latitude", "longitude": Double(Int.random(in: -8...8, using: &random)) / 2
    case "stars": Int.random(in: 1...5, using: &random)
    default: text(&random)
    }
  }

  private func setElement(_ place: NSManagedObject, _ random: inout SeededRandom, _ log: inout [String]) {
    guard let (path, twin) = Atlas.elements.randomElement(using: &random) else { return }
    // An address needs its zip, so it comes first and stays.
    if path.hasPrefix("address."), path != "address.zip", place.value(forKey: "zip") == nil { return }
    let value: Any? =
      path.hasSuffix("zip") || path.hasSuffix("stars") || Bool.random(using: &random)
      ? value(twin, &random) : nil
    log.append("\(path) = \(value ?? "nil")")
    place.setValue(value, forKeyPath: path)
    place.setValue(value, forKey: twin)
  }

  private func setWhole(_ place: NSManagedObject, _ random: inout SeededRandom, _ log: inout [String]) {
    let twins: [String] = ["street", "zip", "latitude", "longitude"]
    guard Int.random(in: 0..<4, using: &random) > 0 else {
      log.append("address = nil")
      place.setValue(nil, forKey: "address")
      for twin in twins { place.setValue(nil, forKey: twin) }
      return
    }
    var flat: [String: Any] = ["zip": text(&random)]
    for twin in twins where twin != "zip" && Bool.random(using: &random) { flat[twin] = value(twin, &random) }
    var address: [String: Any] = flat.filter { $0.key == "zip" || $0.key == "street" }
    let position: [String: Any] = flat.filter { $0.key == "latitude" || $0.key == "longitude" }
    if !position.isEmpty { address["position"] = position }
    log.append("address = \(address)")
    place.setValue(address, forKey: "address")
    for twin in twins { place.setValue(flat[twin], forKey: twin) }
  }

  private func differences(_ context: NSManagedObjectContext) throws -> [String] {
    var result: [String] = []
    for place in try context.all(NSManagedObject.self, "Place") {
      for (path, twin) in Atlas.elements {
        let (left, right) = (
          place.value(forKeyPath: path) as? NSObject, place.value(forKey: twin) as? NSObject
        )
        if left != right {
          result.append("\(path): \(String(describing: left)), plain \(String(describing: right))")
        }
      }
    }
    for (path, twin) in Atlas.elements {
      for condition in ["\(path) = \(twin)", "\(path) != nil", "\(path) = nil"] {
        let plain: String = condition.replacingOccurrences(of: path, with: twin)
        let found = Set(try context.all(NSManagedObject.self, "Place", NSPredicate(format: condition)))
        let expected = Set(try context.all(NSManagedObject.self, "Place", NSPredicate(format: plain)))
        if found != expected { result.append("\(condition): \(found.count), plain \(expected.count)") }
      }
      let order: [NSManagedObject] = try context.all(NSManagedObject.self, "Place", sort: [path, "name"])
      if try order != context.all(NSManagedObject.self, "Place", sort: [twin, "name"]) {
        result.append("order by \(path)")
      }
    }
    return result
  }
}
