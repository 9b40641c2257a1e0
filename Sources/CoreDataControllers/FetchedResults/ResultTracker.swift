import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// The state of a fetched results controller of any results, and the code that updates it.
///
/// It is used on the context's queue, as the context itself.
final class ResultTracker {
  let context: NSManagedObjectContext
  let sectionNameKeyPath: String?
  weak var delegate: (any NSFetchedResultsControllerDelegate)?
  /// The controller as passed to delegates.
  var controller: () -> NSFetchedResultsController<any NSFetchRequestResult>? = { nil }
  private(set) var list: ResultList?
  /// The version of the list, so that data derived from an older list can be recognised.
  private(set) var version: Int = 0
  private var positions: [ObjectIdentifier: Int]?
  /// The sections of `list` as programs see them; nil until one asks.
  private var sectionInfos: [ResultSection]?
  private var observer: (any NSObjectProtocol)?

  // As of the last fetch: a request changed later must be performed again.
  private var entity: NSEntityDescription?
  private var includesSubentities: Bool = true
  private var predicate: NSPredicate?
  private var order: PersistedValueOrder

  init(context: NSManagedObjectContext, sectionNameKeyPath: String?) {
    self.context = context
    self.sectionNameKeyPath = sectionNameKeyPath
    order = PersistedValueOrder([], in: context)
  }

  deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }

  // MARK: Fetching

  /// Sets the results of a request. Changes of results that are managed objects are tracked from then on.
  func take(_ objects: [Any], of request: any AnyFetchRequest) throws {
    let list = try ResultList(objects, sectionNameKeyPath: sectionNameKeyPath)
    if let sectionNameKeyPath { try list.checkSections(sectionNameKeyPath) }
    let name: String = request.entityName ?? ""
    entity = request.entity ?? NSEntityDescription.entity(forEntityName: name, in: context)
    includesSubentities = request.includesSubentities
    predicate = request.predicate
    order = PersistedValueOrder(request.sortDescriptors ?? [], in: context)
    set(list)
    if request.resultType == .managedObjectResultType, observer == nil { observe() }
  }

  private func set(_ list: ResultList?) {
    self.list = list
    positions = nil
    version += 1
    updateSections()
  }

  /// The sections, each the same object as long as there is a section of its name.
  var sections: [ResultSection]? {
    guard let list else { return nil }
    if let sectionInfos { return sectionInfos }
    let made: [ResultSection] = list.sections.indices.map { ResultSection(list, $0, self) }
    sectionInfos = made
    return made
  }

  private func updateSections() {
    guard let former = sectionInfos else { return }
    guard let list else {
      sectionInfos = nil
      return
    }
    var known: [LiteralText: ResultSection] = [:]
    for section in former { known[LiteralText(section.name)] = section }
    sectionInfos = list.sections.indices.map { number in
      guard let section = known.removeValue(forKey: LiteralText(list.sections[number].name)) else {
        return ResultSection(list, number, self)
      }
      section.set(list, number)
      return section
    }
    for section in known.values { section.empty() }
  }

  /// The position of an object, nil if it is none of the results.
  func position(of object: Any) -> Int? {
    guard let list else { return nil }
    guard let object = object as? NSManagedObject else {
      return list.objects.firstIndex { ($0 as? NSObject)?.isEqual(object) ?? false }
    }
    if positions == nil {
      var made: [ObjectIdentifier: Int] = [:]
      for (position, object) in list.objects.enumerated() {
        made[ObjectIdentifier(object as AnyObject)] = position
      }
      positions = made
    }
    return positions?[ObjectIdentifier(object)]
  }

  // MARK: Tracking changes

  private func observe() {
    // The block runs on the queue that posts, which is the context's.
    nonisolated(unsafe) weak let tracker: ResultTracker? = self
    observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { tracker?.contextDidChange($0) }
  }

  private func contextDidChange(_ notification: Notification) {
    guard let list, let delegate, let controller = controller() else { return }
    if notification.userInfo?[NSInvalidatedAllObjectsKey] != nil { return set(nil) }
    func objects(_ keys: String...) -> Set<NSManagedObject> {
      keys.reduce(into: []) { $0.formUnion(notification.userInfo?[$1] as? Set<NSManagedObject> ?? []) }
    }
    let deleted: Set<NSManagedObject> = objects(NSDeletedObjectsKey)
    let touched: Set<NSManagedObject> = objects(
      NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey, NSInvalidatedObjectsKey,
      NSDeletedObjectsKey
    ).filter { position(of: $0) != nil || belongs($0) }
    if touched.isEmpty { return }
    do {
      let next = try ResultList(
        merged(list, touched, deleted), sectionNameKeyPath: sectionNameKeyPath)
      let changes = ResultChanges(from: list, to: next, changed: touched)
      if changes.isEmpty { return }
      delegate.controllerWillChangeContent(controller)
      let former: [ResultSection] = sections ?? []
      set(next)
      tell(delegate, controller, changes, from: list, former, to: next)
      delegate.controllerDidChangeContent(controller)
    } catch {
      // A value without order, or an unknown key: a fetch would have thrown this. Here nothing can catch an
      // error.
      fatalError(
        "NSFetchedResultsController could not place a changed object of entity \(entity?.name ?? ""): \(error)"
      )
    }
  }

  private func belongs(_ object: NSManagedObject) -> Bool {
    guard let name = entity?.name else { return false }
    var candidate: NSEntityDescription? = object.entity
    while let current = candidate {
      if current.name == name { return true }
      candidate = includesSubentities ? current.superentity : nil
    }
    return false
  }

  /// The unchanged objects, and merged into them the changed ones that still (or now) belong to the results.
  private func merged(
    _ list: ResultList, _ touched: Set<NSManagedObject>, _ deleted: Set<NSManagedObject>
  ) throws -> [NSManagedObject] {
    var result: [NSManagedObject] = list.objects.compactMap { object in
      (object as? NSManagedObject).flatMap { touched.contains($0) ? nil : $0 }
    }
    // In their former order, then new ones by id: independent of the order of a set.
    let candidates: [NSManagedObject] = touched.filter { !deleted.contains($0) && !$0.isDeleted }
      .map { ($0, position(of: $0) ?? .max, $0.objectID.uriRepresentation().absoluteString) }
      .sorted { ($0.1, $0.2) < ($1.1, $1.2) }.map(\.0)
    let test: FetchTest? = entity.flatMap { entity in
      predicate.map { FetchTest($0, of: entity, in: context) }
    }
    for object in candidates {
      if let test, try !test.holds(object) { continue }
      result.insert(object, at: try place(for: object, in: result))
    }
    return result
  }

  /// The place of an object: after all that do not sort after it.
  private func place(for object: NSManagedObject, in sorted: [NSManagedObject]) throws -> Int {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle: Int = (low + high) / 2
      if try comesBefore(object, sorted[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private func comesBefore(_ left: NSManagedObject, _ right: NSManagedObject) throws -> Bool {
    switch try order.compare(left, right) {
    case .orderedAscending: return true
    case .orderedDescending: return false
    case .orderedSame: break
    }
    // Equal ones keep their former order.
    return (position(of: left) ?? .max) < (position(of: right) ?? .max)
  }

  private func tell(
    _ delegate: any NSFetchedResultsControllerDelegate,
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, _ changes: ResultChanges,
    from old: ResultList, _ former: [ResultSection], to new: ResultList
  ) {
    for number in changes.deletedSections {
      delegate.controller(controller, didChange: former[number], atSectionIndex: number, for: .delete)
    }
    for number in changes.insertedSections {
      guard let section = sections?[number] else { continue }
      delegate.controller(controller, didChange: section, atSectionIndex: number, for: .insert)
    }
    var steps: [CollectionDifference<NSManagedObjectID>.Change] = []
    for change in changes.objects {
      delegate.controller(
        controller, didChange: change.object, at: change.old.map(old.indexPath), for: change.type,
        newIndexPath: change.new.map(new.indexPath))
      if change.type == .update { continue }
      let id: NSManagedObjectID = change.object.objectID
      if let old = change.old { steps.append(.remove(offset: old, element: id, associatedWith: change.new)) }
      if let new = change.new { steps.append(.insert(offset: new, element: id, associatedWith: change.old)) }
    }
    if let difference = CollectionDifference(steps) {
      delegate.controller(controller, didChangeContentWith: difference)
    }
  }

  func indexTitle(_ name: String) -> String? {
    guard let delegate, let controller = controller() else { return SectionName.indexTitle(name) }
    return delegate.controller(controller, sectionIndexTitleForSectionName: name)
  }
}

/// A section as programs see it: its present contents. One that was deleted has a name, and no objects, since
/// they are deleted or in other sections.
final class ResultSection: NSFetchedResultsSectionInfo {
  private var list: ResultList
  private var section: ResultList.Section
  private weak var tracker: ResultTracker?

  init(_ list: ResultList, _ number: Int, _ tracker: ResultTracker) {
    self.list = list
    section = list.sections[number]
    self.tracker = tracker
  }

  fileprivate func set(_ list: ResultList, _ number: Int) {
    self.list = list
    section = list.sections[number]
  }

  fileprivate func empty() {
    section.range = section.range.lowerBound..<section.range.lowerBound
  }

  var name: String { section.name }
  var indexTitle: String? {
    tracker.map { $0.indexTitle(section.name) } ?? SectionName.indexTitle(section.name)
  }
  var numberOfObjects: Int { section.range.count }
  var objects: [Any]? { Array(list.objects[section.range]) }
}
