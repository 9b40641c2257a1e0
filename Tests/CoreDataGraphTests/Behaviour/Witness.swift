import CoreData
import Foundation
import StackSupport

/// Tells its context's `Hooks` of everything it is told itself.
class Witness: NSManagedObject {
  private var hooks: Hooks? { managedObjectContext?.userInfo["hooks"] as? Hooks }

  private func tell(_ what: String) {
    guard let hooks else { return }
    hooks.lines.append(what)
    hooks.on?(what, self)
  }

  private func check(_ what: String) throws {
    tell(what)
    try hooks?.check?(what, self)
  }

  override func awakeFromInsert() {
    super.awakeFromInsert()
    tell("awakeFromInsert")
  }
  override func awakeFromFetch() {
    super.awakeFromFetch()
    tell("awakeFromFetch")
  }
  override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
    super.awake(fromSnapshotEvents: flags)
    tell("awake \(flags.rawValue)")
  }
  override func prepareForDeletion() {
    super.prepareForDeletion()
    tell("prepareForDeletion")
  }
  override func willSave() {
    super.willSave()
    tell("willSave")
  }
  override func didSave() {
    super.didSave()
    tell("didSave")
  }
  override func willTurnIntoFault() {
    super.willTurnIntoFault()
    tell("willTurnIntoFault")
  }
  override func didTurnIntoFault() {
    super.didTurnIntoFault()
    tell("didTurnIntoFault")
  }
  override func validateForInsert() throws {
    try super.validateForInsert()
    try check("validateForInsert")
  }
  override func validateForUpdate() throws {
    try super.validateForUpdate()
    try check("validateForUpdate")
  }
  override func validateForDelete() throws {
    try super.validateForDelete()
    try check("validateForDelete")
  }

  var name: String? {
    get { self["name"] as? String }
    set { self["name"] = newValue }
  }

  // MARK: Model and stack

  /// Witnesses with a name, a number, a transient note, and a tree of relationships: a boss has members,
  /// which go with it; a pair is a one-to-one; `seen` has no inverse.
  static let model: NSManagedObjectModel = {
    let note: NSAttributeDescription = World.attribute("note", .stringAttributeType)
    note.isTransient = true
    let witness: NSEntityDescription = World.entity(
      "Witness",
      [
        World.attribute("name", .stringAttributeType), World.attribute("number", .integer32AttributeType),
        note,
      ])
    World.pair(witness, "members", .many, .cascadeDeleteRule, witness, "boss", .one, .nullifyDeleteRule)
    World.pair(witness, "first", .one, .nullifyDeleteRule, witness, "second", .one, .nullifyDeleteRule)
    witness.properties.append(World.relationship("seen", witness, .one, .noActionDeleteRule))
    let model = NSManagedObjectModel()
    model.entities = [witness]
    return model
  }()

  /// What is to happen when witnesses are told something, and what they were told.
  final class Hooks: NSObject {
    var lines: [String] = []
    var on: ((String, Witness) -> Void)?
    var check: ((String, Witness) throws -> Void)?

    func take() -> [String] {
      defer { lines = [] }
      return lines
    }
  }

  static func with(
    _ kind: StoreKind, _ body: (Stack, NSManagedObjectContext, Hooks) throws -> Void
  ) throws {
    let stack = try Stack(kind, model: model)
    let hooks = Hooks()
    stack.context.userInfo["hooks"] = hooks
    try stack.run { context in try body(stack, context, hooks) }
    stack.context.userInfo.removeAllObjects()
  }

  convenience init(_ name: String, _ context: NSManagedObjectContext) {
    self.init(context: context)
    self.name = name
  }
}

extension Stack {
  /// Does something to the stored witness of a name, in another context.
  func withWitness(_ name: String, _ body: (Witness, NSManagedObjectContext) throws -> Void) throws {
    try elsewhere { other in
      let predicate = NSPredicate(format: "name == %@", name)
      guard let found = try other.all(Witness.self, "Witness", predicate).first else {
        throw CocoaError(.coreData)
      }
      try body(found, other)
      try other.save()
    }
  }
}
