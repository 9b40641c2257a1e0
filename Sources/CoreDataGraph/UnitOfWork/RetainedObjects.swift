/// The objects that a context keeps alive, if it is to (`retainsRegisteredObjects`): all that it has met and
/// that are in it.
struct RetainedObjects {
  private(set) var isOn = false
  private var objects: [NSManagedObject] = []

  /// Keeps objects from now on: those that there are, and those that are recorded.
  mutating func start(with objects: [NSManagedObject]) {
    isOn = true
    self.objects = objects
  }

  mutating func stop() {
    isOn = false
    objects = []
  }

  @inline(__always)
  mutating func record(_ object: NSManagedObject) {
    if isOn { objects.append(object) }
  }

  mutating func removeObjects(outside identityMap: IdentityMap) {
    objects.removeAll { $0.identityMap !== identityMap }
  }

  mutating func removeAll() { objects = [] }
}
