import CoreDataGraph
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The changes from one list of results to the next, as a delegate is notified of them.
///
/// Unchanged objects keep their order among themselves. A changed object has moved if its section is another,
/// or if it does not fit between those that stay; as many as possible stay.
struct ResultChanges {
  struct ObjectChange {
    var object: NSManagedObject
    var type: NSFetchedResultsChangeType
    /// Positions in the old and the new list.
    var old: Int?
    var new: Int?
  }

  /// Numbers of sections in the old list, and in the new one.
  private(set) var deletedSections: [Int] = []
  private(set) var insertedSections: [Int] = []
  /// Deletions, insertions, moves, updates.
  private(set) var objects: [ObjectChange] = []

  var isEmpty: Bool { objects.isEmpty && deletedSections.isEmpty && insertedSections.isEmpty }

  /// `changed` are the changed objects among those of both lists.
  init(from old: ResultList, to new: ResultList, changed: Set<NSManagedObject>) {
    let surviving: [Int: Int] = compareSections(old, new)
    let before: [NSManagedObject] = old.objects.compactMap { $0 as? NSManagedObject }
    let after: [NSManagedObject] = new.objects.compactMap { $0 as? NSManagedObject }
    var oldPositions: [ObjectIdentifier: Int] = [:]
    for (position, object) in before.enumerated() { oldPositions[ObjectIdentifier(object)] = position }
    let remaining: Set<ObjectIdentifier> = Set(after.map { ObjectIdentifier($0) })

    var insertions: [ObjectChange] = []
    var moves: [ObjectChange] = []
    var updates: [ObjectChange] = []
    /// By new section, the objects that may have stayed in it.
    var staying: [[(old: Int, new: Int, isChanged: Bool)]] = Array(repeating: [], count: new.sections.count)
    for (position, object) in after.enumerated() {
      guard let oldPosition = oldPositions[ObjectIdentifier(object)] else {
        insertions.append(ObjectChange(object: object, type: .insert, new: position))
        continue
      }
      let section: Int = new.sectionNumber(of: position)
      if surviving[old.sectionNumber(of: oldPosition)] == section {
        staying[section].append((oldPosition, position, changed.contains(object)))
      } else {
        moves.append(ObjectChange(object: object, type: .move, old: oldPosition, new: position))
      }
    }
    for section in staying {
      let fitting: Set<Int> = ResultChanges.fitting(section)
      for place in section {
        let isMove: Bool = !fitting.contains(place.new)
        guard isMove || place.isChanged else { continue }
        let change = ObjectChange(
          object: after[place.new], type: isMove ? .move : .update, old: place.old, new: place.new)
        if isMove { moves.append(change) } else { updates.append(change) }
      }
    }
    let deletions: [ObjectChange] = before.enumerated().compactMap { position, object in
      remaining.contains(ObjectIdentifier(object))
        ? nil : ObjectChange(object: object, type: .delete, old: position)
    }
    objects = deletions + insertions + moves + updates
  }

  /// Old section → new section of those that both lists have, in the same order; the others are deleted and
  /// inserted.
  private mutating func compareSections(_ old: ResultList, _ new: ResultList) -> [Int: Int] {
    let newNumbers: [LiteralText: Int] = Dictionary(
      new.sections.enumerated().map { (LiteralText($1.name), $0) }, uniquingKeysWith: { first, _ in first })
    var taken: Set<Int> = []
    let pairs: [(old: Int, new: Int)] = old.sections.indices.compactMap { number in
      guard let match = newNumbers[LiteralText(old.sections[number].name)], taken.insert(match).inserted
      else {
        return nil
      }
      return (number, match)
    }
    let stays: [Bool] = AscendingRun.longest(in: pairs.map { Int64($0.new) })
    var surviving: [Int: Int] = [:]
    for (pair, stays) in zip(pairs, stays) where stays { surviving[pair.old] = pair.new }
    let survivors: Set<Int> = Set(surviving.values)
    deletedSections = old.sections.indices.filter { surviving[$0] == nil }
    insertedSections = new.sections.indices.filter { !survivors.contains($0) }
    return surviving
  }

  /// The new positions of objects that keep their place: all unchanged ones, and as many of the others as fit
  /// between them.
  private static func fitting(_ section: [(old: Int, new: Int, isChanged: Bool)]) -> Set<Int> {
    var result: Set<Int> = []
    var gap: [(old: Int, new: Int)] = []
    var low: Int = -1
    func close(_ high: Int) {
      let candidates: [(old: Int, new: Int)] = gap.filter { $0.old > low && $0.old < high }
      let stays: [Bool] = AscendingRun.longest(in: candidates.map { Int64($0.old) })
      for (candidate, stays) in zip(candidates, stays) where stays { result.insert(candidate.new) }
      gap = []
    }
    for place in section {
      if place.isChanged {
        gap.append((place.old, place.new))
      } else {
        close(place.old)
        low = place.old
        result.insert(place.new)
      }
    }
    close(.max)
    return result
  }
}
