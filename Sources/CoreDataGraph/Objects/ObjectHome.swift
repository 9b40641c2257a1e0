import CoreDataModel
import CoreDataStorage

/// What the objects of one entity, store and context have in common: an object refers to it, and so retains
/// one object in place of three. Immutable; an object that moves gets another one.
///
/// An object without context and store refers to its `EntityRuntime`, which is a home too.
class ObjectHome: @unchecked Sendable {
  // Sendable: immutable.

  /// nil for a home that is the entity itself.
  private final let otherRuntime: EntityRuntime?
  /// The identity map that holds the objects; nil outside a context.
  final let identityMap: IdentityMap?
  /// The store that holds the rows; nil before the first save.
  final let store: NSPersistentStore?
  /// What accessors read of the entity, without retaining it.
  final let facts: UnsafePointer<EntityFacts>
  /// The class of the objects, and what makes one: here so that making many retains nothing else.
  final let objectClass: NSManagedObject.Type
  private final let new: NewManagedObject

  final var runtime: EntityRuntime { otherRuntime ?? unsafeDowncast(self, to: EntityRuntime.self) }

  /// The home of an entity's objects in a context or a store.
  init(_ runtime: EntityRuntime, _ identityMap: IdentityMap?, _ store: NSPersistentStore?) {
    otherRuntime = runtime
    self.identityMap = identityMap
    self.store = store
    facts = runtime.facts
    objectClass = runtime.objectClass
    new = runtime.new
  }

  /// For `EntityRuntime` only.
  init(
    entityItself entity: NSEntityDescription, _ facts: UnsafePointer<EntityFacts>,
    _ objectClass: NSManagedObject.Type
  ) {
    otherRuntime = nil
    identityMap = nil
    store = nil
    self.facts = facts
    self.objectClass = objectClass
    new = NewManagedObject(entity, nil)
  }

  /// A new object, which is not registered in the identity map yet.
  @inline(__always)
  final func makeObject() -> NSManagedObject {
    let made: NSManagedObject = objectClass.init(new)
    made.settle(in: self)
    return made
  }
}

/// What the hot paths read of an entity.
struct EntityFacts {
  /// The serial of the model, which accessors compare at every read.
  let modelSerial: UInt64
  /// The entity's place in the model.
  let index: Int
  /// The place of the root of its hierarchy.
  let rootIndex: Int
  let headerSize: Int
  let slots: UnsafeMutablePointer<CompactSlot>
  /// Whether the class overrides `awakeFromFetch()`.
  let awakesFromFetch: Bool
}

extension IdentityMap {
  /// The homes that were used, by the store's ordinal (0: none) and the entity's index. Used on the context's
  /// queue.
  struct Homes {
    private var byOrdinal: [[ObjectHome?]] = []
    /// The last one of objects that left the context: they keep their store.
    private var outside: ObjectHome?

    mutating func home(
      of runtime: EntityRuntime, _ store: NSPersistentStore?, in identityMap: IdentityMap
    ) -> ObjectHome {
      let ordinal: Int = store?.ordinal ?? 0
      while byOrdinal.count <= ordinal { byOrdinal.append([]) }
      let index: Int = runtime.index
      while byOrdinal[ordinal].count <= index { byOrdinal[ordinal].append(nil) }
      if let known = byOrdinal[ordinal][index], known.runtime === runtime, known.store === store {
        return known
      }
      let made = ObjectHome(runtime, identityMap, store)
      byOrdinal[ordinal][index] = made
      return made
    }

    mutating func homeOutside(of runtime: EntityRuntime, _ store: NSPersistentStore?) -> ObjectHome {
      guard let store else { return runtime }
      if let outside, outside.runtime === runtime, outside.store === store { return outside }
      let made = ObjectHome(runtime, nil, store)
      outside = made
      return made
    }
  }
}
