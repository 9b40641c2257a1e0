/// What the objects of an event were before it, while the event is notified. Looked up by those who ask only,
/// which is rare: an index is made for the first of them.
struct DeliveredEvent {
  private var objects: [ObjectIdentifier] = []
  private var changes: [[EventChange]] = []
  private var places: [ObjectIdentifier: Int]?

  mutating func append(_ object: NSManagedObject, _ changes: [EventChange]) {
    objects.append(ObjectIdentifier(object))
    self.changes.append(changes)
    places = nil
  }

  mutating func changes(of object: NSManagedObject) -> [EventChange] {
    if objects.isEmpty { return [] }
    let index: [ObjectIdentifier: Int] =
      places ?? Dictionary(zip(objects, objects.indices)) { _, later in later }
    places = index
    return index[ObjectIdentifier(object)].map { changes[$0] } ?? []
  }
}
