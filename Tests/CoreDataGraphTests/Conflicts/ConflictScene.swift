import CoreData
import Foundation
import StackSupport
import Testing

/// One kind of relationship between owners and members, and what an owner's deletion does.
struct ConflictShape: Sendable, CustomTestStringConvertible {
  let rule: NSDeleteRule
  let isOrdered: Bool
  let isManyToMany: Bool

  static let all: [ConflictShape] = [.cascadeDeleteRule, .nullifyDeleteRule, .denyDeleteRule].flatMap {
    rule in
    [(false, false), (true, false), (false, true), (true, true)].map {
      ConflictShape(rule: rule, isOrdered: $0.0, isManyToMany: $0.1)
    }
  }

  var number: Int { Int(rule.rawValue) + (isOrdered ? 1 : 0) + (isManyToMany ? 1 : 0) }
  private var ruleName: String {
    switch rule {
    case .cascadeDeleteRule: "Cascade"
    case .denyDeleteRule: "Deny"
    default: "Nullify"
    }
  }
  var testDescription: String {
    "\(ruleName), \(isManyToMany ? "many-to-many" : "one-to-many")\(isOrdered ? ", ordered" : "")"
  }
  private var suffix: String { "\(ruleName)\(isManyToMany ? "Many" : "One")\(isOrdered ? "Ordered" : "")" }
  var owner: String { "Owner\(suffix)" }
  var member: String { "Member\(suffix)" }
  /// The members' side.
  var inverse: String { isManyToMany ? "owners" : "owner" }

  static let model: NSManagedObjectModel = {
    let model = NSManagedObjectModel()
    model.entities = all.flatMap { shape in
      let (owner, member): (NSEntityDescription, NSEntityDescription) = (
        entity(shape.owner), entity(shape.member)
      )
      World.pair(
        owner, "members", shape.isOrdered ? .ordered : .many, shape.rule,
        member, shape.inverse, shape.isManyToMany ? .many : .one, .nullifyDeleteRule)
      return [owner, member]
    }
    return model
  }()

  private static func entity(_ name: String) -> NSEntityDescription {
    World.entity(
      name,
      [
        World.attribute("run", .integer32AttributeType), World.attribute("key", .stringAttributeType),
        World.attribute("note", .stringAttributeType),
      ])
  }
}

/// What one of the two contexts does to owner A with its members a1, a2, a3, to owner B with b1, and to x,
/// which has no owner.
enum ConflictDeed: CaseIterable, Sendable {
  case insert, adopt, moveIn, moveOut, editOwner, editMember, reorder, deleteOwner, deleteMember, deleteBoth

  /// Whether it looks at A's members.
  var readsMembers: Bool { self == .reorder || self == .deleteOwner || self == .deleteBoth }

  var deletes: Bool { self == .deleteOwner || self == .deleteMember || self == .deleteBoth }

  /// The stored objects that it changes or deletes.
  var touched: Set<String> {
    switch self {
    case .insert, .editOwner, .reorder: ["A"]
    case .adopt: ["A", "x"]
    case .moveIn: ["A", "B", "b1"]
    case .moveOut: ["A", "B", "a2"]
    case .editMember: ["a1"]
    case .deleteMember: ["A", "a1"]
    case .deleteOwner, .deleteBoth: ["A", "a1", "a2", "a3"]
    }
  }
}

/// What is stored, in plain values: each object's note, each owner's members.
struct ConflictGraph: Equatable, CustomStringConvertible {
  var notes: [String: String] = [:]
  var lists: [String: [String]] = [:]

  static let start = ConflictGraph(
    notes: ["A": "0", "B": "0", "a1": "0", "a2": "0", "a3": "0", "b1": "0", "x": "0"],
    lists: ["A": ["a1", "a2", "a3"], "B": ["b1"]])

  var description: String {
    notes.sorted { $0.key < $1.key }.map { key, note in
      "\(key)\(note == "0" ? "" : "=\(note)")\(lists[key].map { "\($0)" } ?? "")"
    }.joined(separator: " ")
  }

  func has(_ key: String) -> Bool { notes[key] != nil }

  mutating func take(_ member: String, outOf owner: String) { lists[owner]?.removeAll { $0 == member } }

  mutating func put(_ member: String, into owner: String) { lists[owner, default: []].append(member) }

  mutating func remove(_ key: String) {
    notes[key] = nil
    lists[key] = nil
    for owner in lists.keys { take(key, outOf: owner) }
  }

  /// Deletes an owner, with what its rule takes along.
  mutating func removeOwner(_ key: String, _ shape: ConflictShape) {
    if shape.rule == .cascadeDeleteRule { for member in lists[key] ?? [] { remove(member) } }
    remove(key)
  }

  mutating func apply(_ deed: ConflictDeed, _ shape: ConflictShape, new: String, note: String) {
    switch deed {
    case .insert:
      notes[new] = "0"
      put(new, into: "A")
    case .adopt: put("x", into: "A")
    case .moveIn:
      take("b1", outOf: "B")
      put("b1", into: "A")
    case .moveOut:
      take("a2", outOf: "A")
      put("a2", into: "B")
    case .editOwner: notes["A"] = note
    case .editMember: notes["a1"] = note
    case .reorder: lists["A"]?.reverse()
    case .deleteMember: remove("a1")
    case .deleteOwner: removeOwner("A", shape)
    case .deleteBoth:
      remove("a1")
      removeOwner("A", shape)
    }
  }
}

/// The objects of one run in one context, and what is done with them.
struct ConflictScene {
  let shape: ConflictShape
  let run: Int
  let context: NSManagedObjectContext
  private(set) var objects: [String: NSManagedObject] = [:]

  /// Makes what every run begins with.
  static func make(_ shape: ConflictShape, run: Int, in context: NSManagedObjectContext) throws {
    var scene = ConflictScene(shape: shape, run: run, context: context)
    for key in ConflictGraph.start.notes.keys.sorted() { scene.add(key) }
    for (owner, members) in ConflictGraph.start.lists {
      let list: [NSManagedObject] = members.compactMap { scene.objects[$0] }
      scene.objects[owner]?.setValue(
        shape.isOrdered ? NSOrderedSet(array: list) : NSSet(array: list), forKey: "members")
    }
    try context.save()
  }

  private init(shape: ConflictShape, run: Int, context: NSManagedObjectContext) {
    (self.shape, self.run, self.context) = (shape, run, context)
  }

  /// Reads all objects, and with `listed` all relationships.
  init(_ shape: ConflictShape, run: Int, reading context: NSManagedObjectContext, listed: Bool) throws {
    self.init(shape: shape, run: run, context: context)
    for entity in [shape.owner, shape.member] {
      for object in try context.all(NSManagedObject.self, entity, NSPredicate(format: "run == %d", run)) {
        objects[object.value(forKey: "key") as? String ?? ""] = object
      }
    }
    if listed { _ = graph }
  }

  private mutating func add(_ key: String) {
    let isOwner: Bool = key.first?.isUppercase == true
    objects[key] = context.make(
      isOwner ? shape.owner : shape.member, ["run": run, "key": key, "note": "0"])
  }

  private func object(_ key: String) -> NSManagedObject {
    guard let object = objects[key] else { preconditionFailure("there is no \(key)") }
    return object
  }

  private func move(_ member: String, from old: String, to new: String) {
    if shape.isManyToMany {
      object(old).mutableSetValue(forKey: "members").remove(object(member))
      object(new).mutableSetValue(forKey: "members").add(object(member))
    } else {
      object(member).setValue(object(new), forKey: "owner")
    }
  }

  mutating func act(_ deed: ConflictDeed, new: String, note: String) {
    switch deed {
    case .insert:
      add(new)
      object("A").mutableSetValue(forKey: "members").add(object(new))
    case .adopt: object("A").mutableSetValue(forKey: "members").add(object("x"))
    case .moveIn: move("b1", from: "B", to: "A")
    case .moveOut: move("a2", from: "A", to: "B")
    case .editOwner: object("A").setValue(note, forKey: "note")
    case .editMember: object("a1").setValue(note, forKey: "note")
    case .reorder:
      let old: NSOrderedSet = object("A").value(forKey: "members") as? NSOrderedSet ?? NSOrderedSet()
      object("A").setValue(old.reversed, forKey: "members")
    case .deleteMember: context.delete(object("a1"))
    case .deleteOwner: deleteOwner()
    case .deleteBoth:
      context.delete(object("a1"))
      context.processPendingChanges()
      deleteOwner()
    }
    context.processPendingChanges()
  }

  /// Where the rule is Deny the members have to go first.
  private func deleteOwner() {
    if shape.rule == .denyDeleteRule {
      object("A").setValue(shape.isOrdered ? NSOrderedSet() : NSSet(), forKey: "members")
    }
    context.delete(object("A"))
  }

  /// What the objects say that are held and there.
  var graph: ConflictGraph {
    var graph = ConflictGraph()
    for (key, object) in objects where object.managedObjectContext != nil && !object.isDeleted {
      graph.notes[key] = object.value(forKey: "note") as? String ?? "nil"
      guard key.first?.isUppercase == true else { continue }
      let members: [Any]? =
        (object.value(forKey: "members") as? NSOrderedSet)?.array
        ?? (object.value(forKey: "members") as? NSSet)?.allObjects
      let keys: [String] = (members ?? []).compactMap {
        ($0 as? NSManagedObject)?.value(forKey: "key") as? String
      }
      graph.lists[key] = shape.isOrdered ? keys : keys.sorted()
    }
    return graph
  }

  /// The same relationships, as the members tell them.
  var inverses: [String: Set<String>] {
    var result: [String: Set<String>] = [:]
    for (key, object) in objects
    where key.first?.isUppercase == false && object.managedObjectContext != nil && !object.isDeleted {
      let owners: [Any] =
        (object.value(forKey: shape.inverse) as? NSSet)?.allObjects
        ?? [object.value(forKey: shape.inverse)].compactMap { $0 }
      for case let owner as NSManagedObject in owners {
        result[owner.value(forKey: "key") as? String ?? "nil", default: []].insert(key)
      }
    }
    return result
  }
}
