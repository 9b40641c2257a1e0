import Foundation

extension Set where Element: NSManagedObject {
  /// The members of a to-many relationship with their type: `recipe.steps.map(Set<Step>.init)`. On Apple's
  /// platforms the bridge from `NSSet` makes it.
  ///
  /// Stops the program for an object of another class, as there; `members as? Set<Step>` is nil then. Queue:
  /// that of the members' context. Cost: linear in the members, which are not loaded.
  public init(_ members: NSSet) {
    self.init(minimumCapacity: members.count)
    for member in members {
      guard let object = member as? Element else {
        fatalError(
          "The set has an object of the class \(Swift.type(of: member)), which is no \(Element.self).")
      }
      insert(object)
    }
  }
}
