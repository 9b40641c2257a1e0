import CSwiftRuntime
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
  /// The identity map's table that has the objects; nil outside a context.
  final let table: IdentityMap.Table?
  /// What accessors read of the entity, without retaining it.
  final let facts: UnsafePointer<EntityFacts>
  /// The class of the objects, and what makes one: here so that making many retains nothing else.
  final let objectClass: NSManagedObject.Type
  private final let new: NewManagedObject

  final var runtime: EntityRuntime { otherRuntime ?? unsafeDowncast(self, to: EntityRuntime.self) }

  /// The home of an entity's objects in a context or a store.
  /// `table`: that of the entity's hierarchy; nil if there is no identity map.
  init(
    _ runtime: EntityRuntime, _ identityMap: IdentityMap?, _ store: NSPersistentStore?,
    _ table: IdentityMap.Table?
  ) {
    otherRuntime = runtime
    self.identityMap = identityMap
    self.store = store
    self.table = table
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
    table = nil
    self.facts = facts
    self.objectClass = objectClass
    new = NewManagedObject(unretained: entity)
  }

  /// Removes an object that is being deallocated from the identity map.
  @inline(__always)
  final func remove(_ object: NSManagedObject) { identityMap?.removeDeallocated(object, self) }

  /// A new object, which is not registered in the identity map yet. Its home is the entity: see
  /// `settle(in:)`.
  @inline(__always)
  final func makeObject() -> NSManagedObject { objectClass.init(new) }
}

/// References to one object, taken beforehand by one atomic operation in place of one for each.
struct References<Object: AnyObject> {
  private let object: Unmanaged<Object>
  private var left: Int

  /// References for so many owners. `end` must be called.
  @inline(__always)
  init(_ object: Object, count: Int) {
    self.object = .passUnretained(object)
    left = count
    if count > 0 { _ = swift_retain_n(self.object.toOpaque(), UInt32(count)) }
  }

  /// The reference for the next owner; there must be one left.
  @inline(__always)
  mutating func take() -> Object {
    left &-= 1
    return object.takeRetainedValue()
  }

  /// Releases the references that nobody has taken.
  @inline(__always)
  mutating func end() {
    if left > 0 { swift_release_n(object.toOpaque(), UInt32(left)) }
    left = 0
  }
}

/// References to one object that owners have given up, released by one atomic operation in place of one for
/// each.
struct ReturnedReferences<Object: AnyObject> {
  private let object: Object
  private var given: Int = 0

  /// `end` must be called.
  init(_ object: Object) { self.object = object }

  /// An owner has given up its reference.
  @inline(__always)
  mutating func count() { given &+= 1 }

  /// Releases the references that were given up.
  mutating func end() {
    if given > 0 { swift_release_n(Unmanaged.passUnretained(object).toOpaque(), UInt32(given)) }
    given = 0
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
  let slotCount: Int
  /// Whether the class overrides `awakeFromFetch()`.
  let awakesFromFetch: Bool
  /// Whether a save checks more than the attributes' types and presence: by the class, or for values that
  /// accessors compute.
  let hasChecksOfClass: Bool
  /// Whether all values can be read from the row again after a save: no relationships, transient values or
  /// objects.
  let isAllInRow: Bool
  let isAbstract: Bool
}

extension IdentityMap {
  /// The homes that were used, by the store's ordinal (0: none) and the entity's index. Used on the context's
  /// queue.
  struct Homes {
    private var byOrdinal: [[ObjectHome?]] = []
    /// The last one of objects that left the context: they keep their store.
    private var outside: ObjectHome?

    /// `table`: that of the entity's hierarchy, for a caller that holds the identity map's lock.
    mutating func home(
      of runtime: EntityRuntime, _ store: NSPersistentStore?, in identityMap: IdentityMap,
      _ table: IdentityMap.Table? = nil
    ) -> ObjectHome {
      let ordinal: Int = store?.ordinal ?? 0
      while byOrdinal.count <= ordinal { byOrdinal.append([]) }
      let index: Int = runtime.index
      while byOrdinal[ordinal].count <= index { byOrdinal[ordinal].append(nil) }
      if let known = byOrdinal[ordinal][index], known.runtime === runtime, known.store === store {
        return known
      }
      let made = ObjectHome(
        runtime, identityMap, store,
        table ?? identityMap.table(store: ordinal, root: runtime.layout.rootIndex))
      byOrdinal[ordinal][index] = made
      return made
    }

    mutating func homeOutside(of runtime: EntityRuntime, _ store: NSPersistentStore?) -> ObjectHome {
      guard let store else { return runtime }
      if let outside, outside.runtime === runtime, outside.store === store { return outside }
      let made = ObjectHome(runtime, nil, store, nil)
      outside = made
      return made
    }
  }
}
