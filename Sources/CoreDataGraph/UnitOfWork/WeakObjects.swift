/// Weak references of a context to objects.
struct WeakObjects {
  private struct Member {
    weak var object: NSManagedObject?
  }

  private var members: [Member] = []
  /// With more members than this, deallocated ones are removed.
  private var limit: Int = 64

  mutating func append(_ objects: [NSManagedObject]) {
    members += objects.map { Member(object: $0) }
    guard members.count > limit else { return }
    members.removeAll { $0.object == nil }
    limit = max(64, 2 * members.count)
  }

  var objects: [NSManagedObject] { members.compactMap(\.object) }

  mutating func releaseRelationships() {
    for member in members { member.object?.releaseRelationships() }
    members = []
  }
}
