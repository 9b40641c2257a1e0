import CoreDataModel
import CoreDataStorage
import Testing

@Suite struct ModelLayoutTests {
  @Test func `entities are numbered depth first, siblings by name whatever their case`() {
    let layout = ModelLayout(
      model: makeModel([
        ModelEntity("SyncFeatureEntity"), ModelEntity("SyncableSettingsMetadata"),
        ModelEntity(
          "beta", children: [ModelEntity("Zoo"), ModelEntity("ant", children: [ModelEntity("Bee")])]),
        ModelEntity("Alpha"), ModelEntity("Gamma"),
      ]))
    #expect(
      layout.entities.map(\.name) == [
        "Alpha", "beta", "ant", "Bee", "Zoo", "Gamma", "SyncableSettingsMetadata", "SyncFeatureEntity",
      ])
    #expect(layout.entities.map(\.index) == Array(0..<8))
    #expect(layout.byName["beta"]?.family == 1...4)
    #expect(layout.byName["ant"]?.family == 2...3)
    #expect(layout.byName["Bee"]?.superIndex == 2)
    #expect(layout.byName["Bee"]?.rootIndex == 1)
    #expect(layout.byName["Alpha"]?.hasSubentities == false)
  }

  @Test func `the order of the layout is the order of the model`() {
    let layout = ModelLayout(
      model: makeModel([
        ModelEntity("A_b"), ModelEntity("AB"), ModelEntity("aC"),
        ModelEntity("A1", children: [ModelEntity("_x"), ModelEntity("X")]),
      ]))
    #expect(layout.entities.map(\.name) == layout.model.entitiesInStoreOrder.map { $0.name ?? "" })
  }

  @Test func `slots of the parent come first, so they are right for its children`() {
    let layout = ModelLayout(
      model: makeModel([
        ModelEntity(
          "Animal", [("name", .stringAttributeType), ("age", .integer16AttributeType)],
          children: [
            ModelEntity("Cat", [("lives", .integer16AttributeType), ("a", .dataType)]),
            ModelEntity("Dog", [("breed", .stringAttributeType)]),
          ])
      ]))
    let animal: EntityLayout = layout.byName["Animal"]!
    let cat: EntityLayout = layout.byName["Cat"]!
    #expect(animal.slots.map(\.name) == ["age", "name"])
    #expect(cat.slots.map(\.name) == ["age", "name", "a", "lives"])
    #expect(cat.slots.map(\.declaringEntity) == [0, 0, 1, 1])
    for slot in animal.slots { #expect(cat.slot(named: slot.name)?.role == slot.role) }
    #expect(Set(layout.entities.map(\.headerSize)).count == 1)
    #expect(animal.rowSize < cat.rowSize)
    #expect(animal.familyRowSize == cat.rowSize)
  }

  @Test func `a to-one takes two words, a to-many and a transient none`() {
    let layout = ModelLayout(
      model: makeModel([
        ModelEntity("A", [("x", .integer16AttributeType), ("t", .stringAttributeType)]), ModelEntity("B"),
      ]) {
        let one = addRelationship("b", from: $0["A"]!, to: $0["B"]!, toMany: false)
        let many = addRelationship("as", from: $0["B"]!, to: $0["A"]!, toMany: true)
        one.inverseRelationship = many
        many.inverseRelationship = one
        $0["A"]!.properties.first { $0.name == "t" }!.isTransient = true
      })
    let a: EntityLayout = layout.byName["A"]!
    let b: EntityLayout = layout.byName["B"]!
    #expect(a.wordCount == 3)
    #expect(a.slot(named: "x")?.role == .stored(.int16, word: 0))
    #expect(a.slot(named: "b")?.role == .stored(.toOne, word: 1))
    #expect(a.slot(named: "t")?.role == .transient)
    #expect(b.slot(named: "as")?.role == .toMany)
    #expect(b.wordCount == 0)
    #expect(b.slot(named: "as")?.destination == a.index)
    #expect(b.slot(named: "as")?.inverseSlot == a.slotByName["b"])
    #expect(a.slot(named: "b")?.inverseSlot == b.slotByName["as"])
  }

  @Test func `making a layout freezes the model`() {
    let model: NSManagedObjectModel = makeModel([ModelEntity("A")])
    #expect(!model.isFrozen)
    _ = ModelLayout(model: model)
    #expect(model.isFrozen)
  }
}

extension NSAttributeType {
  fileprivate static let dataType: NSAttributeType = .binaryDataAttributeType
}
