import CoreData

// Blocks that capture what is not `Sendable`, as they compile with Apple's SDK: with warnings, which this
// module is compiled without. The objects belong to the context whose block it is.

@MainActor
public final class Capturing {
  private let context: NSManagedObjectContext
  private var object: NSManagedObject?

  public init(_ context: NSManagedObjectContext) { self.context = context }

  /// Sets a value of an object by each way of running a block. Returns what the object then has.
  public func set(_ key: String, of object: NSManagedObject) async -> [Int] {
    var seen: [Int] = []
    let see = { (value: Any?) in _ = [value].forEach { seen.append($0 as? Int ?? -1) } }
    context.performAndWait { object.setValue(1, forKey: key) }
    context.performAndWait { see(object.value(forKey: key)) }
    await withCheckedContinuation { continuation in setLater(key, of: object) { continuation.resume() } }
    context.performAndWait { see(object.value(forKey: key)) }
    await context.perform {
      [3].forEach { object.setValue($0, forKey: key) }
    }
    let value: Int = await context.perform { object.value(forKey: key) as? Int ?? -1 }
    see(value)
    self.object = await context.perform { object }
    return seen
  }

  private func setLater(_ key: String, of object: NSManagedObject, _ done: @escaping () -> Void) {
    context.perform {
      [2].forEach { object.setValue($0, forKey: key) }
      done()
    }
  }
}
