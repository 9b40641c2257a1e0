#if DEBUG
  import CoreDataStorage

  // Conditions that hold between operations: while no operation of the context, no save and no end of an
  // event runs. Debug builds only; the law test checks them after each of its steps.

  extension NSManagedObjectContext {
    /// Descriptions of violated conditions; none if all hold. Call it on the context's queue. Loads nothing.
    ///
    /// `withRelationships`: whether both sides of loaded relationships are compared. They agree as long as
    /// nothing else changes the store, or its changes are merged.
    ///
    /// Cost: all registered objects, with the loaded part of their relationships.
    package final func checkInvariants(withRelationships: Bool = true) -> [String] {
      requireQueue("checkInvariants() was called")
      var invariants = Invariants(self, withRelationships)
      invariants.check()
      return invariants.violations
    }
  }

  private struct Invariants {
    let identityMap: IdentityMap
    let work: UnitOfWork
    let undoState: UndoState
    let withRelationships: Bool
    private(set) var violations: [String] = []

    init(_ context: NSManagedObjectContext, _ withRelationships: Bool) {
      self.withRelationships = withRelationships
      identityMap = context.identityMap
      work = context.work
      undoState = context.undoState
    }

    mutating func check() {
      if work.isSaving { violations.append("A save is under way.") }
      if work.isEndingEvent { violations.append("The end of an event is under way.") }
      let objects: [NSManagedObject] = identityMap.allObjects
      let inserted: Set<ObjectIdentifier> = checkList(work.inserted, .inInsertedList, "inserted")
      let updated: Set<ObjectIdentifier> = checkList(work.updated, .inUpdatedList, "updated")
      let deleted: Set<ObjectIdentifier> = checkList(work.deleted, .inDeletedList, "deleted")
      let event: Set<ObjectIdentifier> = checkList(work.event, .inEventList, "event")
      let pending: Set<ObjectIdentifier> = Set(work.pendingPropagation.map { ObjectIdentifier($0) })
      let remote: Set<ObjectIdentifier> = Set(work.objectsDeletedRemotely.map { ObjectIdentifier($0) })
      for object in objects {
        let id = ObjectIdentifier(object)
        let flags: ObjectFlags = object.flags
        checkIdentity(object)
        expect(
          object, "is marked as listed, and is in the list of inserted objects", flags, .inInsertedList,
          inserted)
        expect(
          object, "is marked as listed, and is in the list of updated objects", flags, .inUpdatedList, updated
        )
        expect(
          object, "is marked as listed, and is in the list of deleted objects", flags, .inDeletedList, deleted
        )
        expect(object, "has event flags, and is in the event", flags, .event, event)
        if flags.contains(.inserted), !inserted.contains(id) {
          violate(object, "is inserted, and in no list")
        }
        if flags.contains(.updated), !updated.contains(id) { violate(object, "is updated, and in no list") }
        if flags.contains(.updated), flags.contains(.inserted) {
          violate(object, "is inserted and updated")
        }
        if flags.contains(.deleted), flags.isDisjoint(with: [.inaccessible, .remotelyDeleted]) {
          if !deleted.contains(id) { violate(object, "is deleted, and in no list") }
          if !flags.contains(.propagated), !pending.contains(id) {
            violate(object, "is deleted, and its delete rules will never be applied")
          }
        }
        if flags.isSuperset(of: [.inserted, .deleted]), !flags.contains(.inEventList) {
          violate(object, "is inserted and deleted, and no event will remove it")
        }
        if flags.contains(.remotelyDeleted) {
          if !flags.isSuperset(of: [.deleted, .propagated]) || !flags.isDisjoint(with: [.inserted, .updated])
          {
            violate(object, "is deleted by another context, and has flags of changes here")
          }
          if !remote.contains(id) {
            violate(object, "is deleted by another context, and no save will remove it")
          }
        }
        if !flags.isDisjoint(with: .ofPreparation) {
          violate(object, "is prepared for a save that has ended")
        }
        if flags.contains(.undoable) != undoState.retains(object) {
          violate(object, "is marked as undoable, and no undo has it, or the other way round")
        }
        if withRelationships, flags.isDisjoint(with: [.fault, .deleted]) { checkRelationships(object) }
      }
    }

    private mutating func violate(_ object: NSManagedObject, _ text: String) {
      violations.append("\(object.runtime.layout.name) \(object.key) \(text).")
    }

    /// Each object is in a list once, belongs to this context, and has the list's flag.
    private mutating func checkList(_ list: [NSManagedObject], _ mark: ObjectFlags, _ name: String) -> Set<
      ObjectIdentifier
    > {
      var known: Set<ObjectIdentifier> = []
      for object in list {
        if !known.insert(ObjectIdentifier(object)).inserted {
          violate(object, "is in the list of \(name) objects twice")
        }
        if object.identityMap !== identityMap {
          violate(object, "is in the list of \(name) objects of a context that does not have it")
        } else if !object.flags.contains(mark) {
          violate(object, "is in the list of \(name) objects and not marked")
        }
      }
      return known
    }

    private mutating func expect(
      _ object: NSManagedObject, _ text: String, _ flags: ObjectFlags, _ mark: ObjectFlags,
      _ list: Set<ObjectIdentifier>
    ) {
      if flags.isDisjoint(with: mark) == list.contains(ObjectIdentifier(object)) {
        violate(object, "does only one of two: it \(text)")
      }
    }

    /// The identity map has the object at its key, and the object belongs to this context.
    private mutating func checkIdentity(_ object: NSManagedObject) {
      if object.identityMap !== identityMap {
        violate(object, "is registered, and does not refer to the context")
      }
      let found: NSManagedObject? = identityMap.object(
        store: object.store?.ordinal ?? 0, root: object.runtime.layout.rootIndex, key: object.key)
      if found !== object { violate(object, "is not found at its key") }
    }

    // MARK: Both sides of relationships

    private mutating func checkRelationships(_ object: NSManagedObject) {
      guard let state = object.state else { return }
      for slot in object.runtime.relationshipSlots {
        guard let inverse = object.runtime.layout.slots[slot].inverseSlot else { continue }
        let name: String = object.runtime.layout.slots[slot].name
        let others: [NSManagedObject] =
          state.toMany(slot)?.members?.objects ?? state.values[slot].target.map { [$0] } ?? []
        for other in others where !other.flags.contains(.deleted) && !other.flags.contains(.fault) {
          if other.identityMap !== identityMap {
            violate(
              object, "has an object of another context or none as \(name)")
          } else if other.leadsBack(inverse, to: object) == false {
            violate(
              object,
              "has \(other.runtime.layout.name) \(other.key) as \(name), which "
                + "does not say so")
          }
        }
      }
    }
  }

  extension NSManagedObject {
    /// Whether a relationship, as far as it is loaded, contains an object; nil if it is not loaded.
    fileprivate final func leadsBack(_ slot: Int, to object: NSManagedObject) -> Bool? {
      guard let state else { return nil }
      if runtime.layout.slots[slot].isToMany { return state.toMany(slot)?.knows(object) }
      switch state.values[slot] {
      case .unset: return nil
      case let value: return value.target === object
      }
    }
  }
#endif
