/// The objects that a context retains with `retainsRegisteredObjects`: all that are registered with it.
struct RetainedObjects {
  private(set) var isOn = false
  private var objects: [NSManagedObject] = []

  /// Retains objects from now on: the given ones, and those that are recorded.
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
