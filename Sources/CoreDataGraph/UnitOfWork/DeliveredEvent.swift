/// The state of an event's objects before it, while the event is notified. Looked up only by observers that
/// need it, which is rare: an index is made at the first look-up.
struct DeliveredEvent {
  /// What the notification says, if it is posted later.
  var info: [AnyHashable: Any] = [:]
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
