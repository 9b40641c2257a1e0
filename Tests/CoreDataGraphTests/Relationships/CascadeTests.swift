import CoreData
import Foundation
import StackSupport
import Testing

/// Deletions that are passed on to objects nobody has looked at.
@Suite
struct CascadeTests {
  /// A box cascades to things that don't know it, so that nothing but the cascade looks at them.
  private func stack(_ kind: StoreKind) throws -> Stack {
    let box: NSEntityDescription = World.entity("Box", [World.attribute("name", .stringAttributeType)])
    let thing: NSEntityDescription = World.entity("Thing", [World.attribute("name", .stringAttributeType)])
    box.properties.append(World.relationship("things", thing, .many, .cascadeDeleteRule))
    let model = NSManagedObjectModel()
    model.entities = [box, thing]
    let stack = try Stack(kind, model: model)
    try stack.elsewhere { context in
      let things: [NSManagedObject] = (0..<3).map { context.make("Thing", ["name": "\($0)"]) }
      _ = context.make("Box", ["name": "box", "things": Set(things)])
      try context.save()
    }
    return stack
  }

  @Test(arguments: StoreKind.allCases)
  func `members that were never loaded are deleted with their owner`(kind: StoreKind) throws {
    let stack: Stack = try stack(kind)
    try stack.run { context in
      context.delete(try #require(try context.all(NSManagedObject.self, "Box").first))
      try context.save()
    }
    #expect(try stack.count("Thing") == 0 && stack.count("Box") == 0)
  }

  @Test(arguments: StoreKind.allCases)
  func `a member that somebody else has deleted is in nobody's way`(kind: StoreKind) throws {
    let stack: Stack = try stack(kind)
    try stack.run { context in
      let box: NSManagedObject = try #require(try context.all(NSManagedObject.self, "Box").first)
      #expect(box.mutableSetValue(forKey: "things").count == 3)
      try stack.elsewhere { other in
        let things: [NSManagedObject] = try other.all(NSManagedObject.self, "Thing", sort: ["name"])
        other.delete(try #require(things.first))
        try other.save()
      }
      context.delete(box)
      try context.save()
    }
    #expect(try stack.count("Thing") == 0 && stack.count("Box") == 0)
  }
}
