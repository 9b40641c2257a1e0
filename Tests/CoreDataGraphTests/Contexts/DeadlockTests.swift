import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Parents and children whose blocks wait for each other, from different threads. Each test runs in a process
/// of its own, which an alarm ends if it hangs.
@Suite
struct DeadlockTests {
  private static let secondsToHang: UInt32 = 60

  /// Who has the main queue.
  enum MainQueueOf: String, CaseIterable, Codable, Sendable {
    case nobody, parent, child
  }

  /// What a child's block needs of the parent while a block of the parent waits for the child.
  enum Need: String, CaseIterable, Codable, Sendable {
    case fault, members, fetch, count, save, refresh, permanentIDs, block, error

    func meet(_ child: NSManagedObjectContext, _ parent: NSManagedObjectContext, _ id: NSManagedObjectID)
      throws
    {
      let item = child.object(with: id) as! Item
      switch self {
      case .fault: try #require(item.title == "a")
      case .members: try #require(item.tags.count == 1)
      case .fetch:
        try #require(try child.all(Item.self, "Item", NSPredicate(format: "title == 'a'")) == [item])
      case .count: try #require(try child.count(for: child.request(Item.self, "Item")) == 1)
      case .save:
        item.price += 1
        try child.save()
      case .refresh: child.refresh(item, mergeChanges: true)
      case .permanentIDs:
        let new: Item = child.item("new")
        try child.obtainPermanentIDs(for: [new])
        try #require(!new.objectID.isTemporaryID)
        child.rollback()
      case .block:
        // Inside it both contexts are this block's, as they are where one thread nests them.
        let titles: [String?] = try parent.performAndWait {
          let theirs: String? = try (parent.existingObject(with: id) as? Item)?.title
          return [theirs, item.title, child.performAndWait { item.title }]
        }
        try #require(titles == ["a", "a", "a"])
      case .error:
        #expect(throws: CocoaError.self) { try parent.performAndWait { throw CocoaError(.userCancelled) } }
        _ = child.make("Strict", ["name": "x"])
        #expect(throws: CocoaError.self) { try child.save() }
        child.rollback()
      }
    }
  }

  private struct Family {
    let stack: Stack
    let parent: NSManagedObjectContext
    let child: NSManagedObjectContext
    let id: NSManagedObjectID

    init(_ main: MainQueueOf) throws {
      stack = try Stack(.sqlite)
      let parent = NSManagedObjectContext(main == .parent ? .mainQueue : .privateQueue)
      parent.persistentStoreCoordinator = stack.coordinator
      self.parent = parent
      child = NSManagedObjectContext(main == .child ? .mainQueue : .privateQueue)
      child.parent = parent
      id = try parent.performAndWait {
        let item: Item = parent.item("a")
        item.tags = [parent.make("Tag", ["name": "t"]) as! Tag]
        try parent.save()
        parent.reset()
        return item.objectID
      }
    }
  }

  /// Two blocks that begin together: neither goes on before the other one runs.
  private struct Meeting: Sendable {
    private let semaphores: [DispatchSemaphore] = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]

    func come(_ place: Int) {
      semaphores[place].signal()
      semaphores[1 - place].wait()
    }
  }

  /// Runs the first on a thread of its own and the second here; returns when both have ended.
  private static func both(_ first: @escaping () throws -> Void, _ second: () throws -> Void) throws {
    nonisolated(unsafe) let first: () throws -> Void = first
    nonisolated(unsafe) var failure: (any Error)?
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do { try first() } catch { failure = error }
      done.signal()
    }
    try second()
    done.wait()
    if let failure { throw failure }
  }

  /// The same where the main queue has to be free afterwards.
  @MainActor
  private static func bothAroundMain(_ first: @escaping () throws -> Void, _ onMain: () throws -> Void)
    async throws
  {
    nonisolated(unsafe) let first: () throws -> Void = first
    let (ends, end) = AsyncThrowingStream.makeStream(of: Void.self)
    Thread.detachNewThread {
      do {
        try first()
        end.finish()
      } catch {
        end.finish(throwing: error)
      }
    }
    try onMain()
    for try await _ in ends {}
  }

  @MainActor
  private static func meet(_ need: Need, _ main: MainQueueOf, _ rounds: Int) async throws {
    let family = try Family(main)
    let (parent, child): (NSManagedObjectContext, NSManagedObjectContext) = (family.parent, family.child)
    var visits: Int = 0
    for _ in 0..<rounds {
      let meeting = Meeting()
      child.performAndWait { child.reset() }
      let above: () throws -> Void = {
        parent.performAndWait {
          meeting.come(0)
          child.performAndWait { visits += 1 }
        }
      }
      let below: () throws -> Void = {
        try child.performAndWait {
          meeting.come(1)
          try need.meet(child, parent, family.id)
          visits += 1
        }
      }
      try await main == .child ? bothAroundMain(above, below) : bothAroundMain(below, above)
    }
    #expect(visits == rounds * 2)
    guard need == .save else { return }
    let price: Double? = try parent.performAndWait {
      try parent.save()
      return try (parent.existingObject(with: family.id) as? Item)?.price
    }
    #expect(price == Double(rounds))
  }

  @Test(arguments: Need.allCases, MainQueueOf.allCases)
  func `a parent that waits for its child gives the child's block what it needs`(
    need: Need, main: MainQueueOf
  ) async {
    await #expect(processExitsWith: .success) {
      @MainActor [need = need as Need, main = main as MainQueueOf] in
      alarm(Self.secondsToHang)
      setenv("CLARUS_CONCURRENCY_DEBUG", "1", 1)
      try await Self.meet(need, main, 50)
    }
  }

  @Test func `a grandparent that waits for the leaf serves what reaches it through the middle`() async {
    await #expect(processExitsWith: .success) { @MainActor in
      alarm(Self.secondsToHang)
      for main in MainQueueOf.allCases {
        let family = try Family(main)
        let leaf = NSManagedObjectContext(.privateQueue)
        leaf.parent = family.child
        for round in 1...20 {
          let meeting = Meeting()
          leaf.performAndWait { leaf.reset() }
          try await Self.bothAroundMain(
            {
              try leaf.performAndWait {
                meeting.come(0)
                (leaf.object(with: family.id) as? Item)?.price = Double(round)
                try leaf.save()
                try family.child.performAndWait { try family.child.save() }
              }
            },
            {
              family.parent.performAndWait {
                meeting.come(1)
                leaf.performAndWait {}
              }
            })
          let price: Double? = family.parent.performAndWait {
            (family.parent.object(with: family.id) as? Item)?.price
          }
          #expect(price == Double(round))
        }
      }
    }
  }

  /// The main thread waits for a child and runs the child's save meanwhile; an observer of that waits for
  /// `asked`, whose block waits for the child.
  @MainActor
  private static func askInObserver(_ family: Family, _ asked: NSManagedObjectContext) async throws {
    let observer = Recorder([.NSManagedObjectContextObjectsDidChange], of: family.parent) { _ in
      asked.performAndWait {}
    }
    let (first, second) = (Meeting(), Meeting())
    try await Self.bothAroundMain(
      {
        try Self.both(
          {
            asked.performAndWait {
              first.come(0)
              family.child.performAndWait {}
            }
          },
          {
            try family.child.performAndWait {
              first.come(1)
              second.come(0)
              (family.child.object(with: family.id) as? Item)?.price += 1
              try family.child.save()
            }
          })
      },
      {
        family.parent.performAndWait {
          second.come(1)
          family.child.performAndWait {}
        }
      })
    withExtendedLifetime(observer) {}
  }

  @Test func `what a served save tells may wait for a grandchild, which needs the one that saves`() async {
    await #expect(processExitsWith: .success) { @MainActor in
      alarm(Self.secondsToHang)
      let family = try Family(.parent)
      for round in 1...20 {
        let leaf = NSManagedObjectContext(.privateQueue)
        leaf.parent = family.child
        try await Self.askInObserver(family, leaf)
        let price: Double? = (family.parent.object(with: family.id) as? Item)?.price
        #expect(price == Double(round))
      }
    }
  }

  @Test func `a circle through what a served save tells is told where it can't be opened`() async {
    let result: ExitTest.Result? = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { @MainActor in
      alarm(Self.secondsToHang)
      let family = try Family(.parent)
      let stranger: NSManagedObjectContext = family.stack.other()
      stranger.name = "stranger"
      try await Self.askInObserver(family, stranger)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for part in ["CoreData deadlock", "waits for \"stranger\"", "in a block of \"stranger\""] {
      #expect(text.contains(part), "\(text)")
    }
  }

  @Test func `a parent waits for one child, whose block waits for another, which needs the parent`() async {
    await #expect(processExitsWith: .success) { @MainActor in
      alarm(Self.secondsToHang)
      for main in [MainQueueOf.nobody, .parent] {
        let family = try Family(main)
        let other = NSManagedObjectContext(.privateQueue)
        other.parent = family.parent
        for _ in 0..<20 {
          let (first, second) = (Meeting(), Meeting())
          other.performAndWait { other.reset() }
          try Self.both(
            {
              try Self.both(
                {
                  try other.performAndWait {
                    first.come(0)
                    try #require((other.object(with: family.id) as? Item)?.title == "a")
                  }
                },
                {
                  family.child.performAndWait {
                    first.come(1)
                    second.come(0)
                    other.performAndWait {}
                  }
                })
            },
            {
              family.parent.performAndWait {
                second.come(1)
                family.child.performAndWait {}
              }
            })
        }
      }
    }
  }

  @Test func `a coordinator's block may wait for contexts, and theirs for it`() async {
    await #expect(processExitsWith: .success) { @MainActor in
      alarm(Self.secondsToHang)
      let family = try Family(.nobody)
      let coordinator: NSPersistentStoreCoordinator = family.stack.coordinator
      var visits: Int = 0
      for _ in 0..<50 {
        let meeting = Meeting()
        try Self.both(
          {
            family.child.performAndWait {
              meeting.come(0)
              coordinator.performAndWait { coordinator.performAndWait { visits += 1 } }
            }
          },
          {
            coordinator.performAndWait {
              meeting.come(1)
              family.child.performAndWait { visits += 1 }
            }
          })
      }
      #expect(visits == 100)
    }
  }

  @Test(arguments: MainQueueOf.allCases)
  func `blocks that are waited for asynchronously take part`(main: MainQueueOf) async {
    await #expect(processExitsWith: .success) { [main = main as MainQueueOf] in
      alarm(Self.secondsToHang)
      try await Self.meetAsynchronously(main)
    }
  }

  private static func meetAsynchronously(_ main: MainQueueOf) async throws {
    let family = try Family(main)
    let (parent, child): (NSManagedObjectContext, NSManagedObjectContext) = (family.parent, family.child)
    let id: NSManagedObjectID = family.id
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<40 {
        group.addTask {
          try await child.perform {
            (child.object(with: id) as? Item)?.price += 1
            try child.save()
          }
        }
        group.addTask {
          try await parent.perform {
            try child.performAndWait { try child.save() }
            try parent.save()
          }
        }
      }
      try await group.waitForAll()
    }
    let price: Double? = await parent.perform { (parent.object(with: id) as? Item)?.price }
    #expect(price == 40)
  }

  @Test func `any nesting up and down a tree of contexts ends, and blocks exclude each other`() async {
    await #expect(processExitsWith: .success) {
      alarm(Self.secondsToHang)
      try Self.walkTree(threads: 8, steps: 300)
    }
  }

  /// A context of the tree and a number that only its blocks may touch.
  private final class Node: @unchecked Sendable {
    // Sendable: `visits` is used in blocks of `context` only, which is what the test is about.
    let context: NSManagedObjectContext
    var visits: Int = 0

    init(_ parent: Node?, _ coordinator: NSPersistentStoreCoordinator) {
      context = NSManagedObjectContext(.privateQueue)
      if let parent {
        context.parent = parent.context
      } else {
        context.persistentStoreCoordinator = coordinator
      }
    }
  }

  private static func walkTree(threads: Int, steps: Int) throws {
    let stack = try Stack(.inMemory)
    let root = Node(nil, stack.coordinator)
    let middles: [Node] = (0..<2).map { _ in Node(root, stack.coordinator) }
    let paths: [[Node]] = middles.flatMap { middle in
      (0..<2).map { _ in [root, middle, Node(middle, stack.coordinator)] }
    }
    let walks: [[[Node]]] = (0..<threads).map { thread in
      var random = SeededRandom(seed: UInt64(thread))
      return (0..<steps).map { _ in walk(paths.randomElement(using: &random)!, &random) }
    }
    let group = DispatchGroup()
    for orders in walks {
      group.enter()
      Thread.detachNewThread {
        for nodes in orders { visit(nodes[...]) }
        group.leave()
      }
    }
    group.wait()
    for node in [root] + middles + paths.map({ $0[2] }) {
      #expect(node.visits == walks.joined().joined().count { $0 === node })
    }
  }

  /// Down along a path, leaving some out, then up; or up alone.
  private static func walk(_ path: [Node], _ random: inout SeededRandom) -> [Node] {
    let down: [Node] = Bool.random(using: &random) ? path : []
    return (down + path.reversed()).filter { _ in Bool.random(using: &random) }
  }

  private static func visit(_ nodes: ArraySlice<Node>) {
    guard let node = nodes.first else { return }
    node.context.performAndWait {
      node.visits += 1
      visit(nodes.dropFirst())
    }
  }

  @Test
  func `contexts that have nothing to do with each other stop when they wait in a circle, and are named`()
    async
  {
    let result: ExitTest.Result? = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      alarm(Self.secondsToHang)
      let stack = try Stack(.inMemory)
      let (left, right) = (stack.other(), stack.other())
      (left.name, right.name) = ("left", "right")
      let meeting = Meeting()
      try Self.both(
        {
          left.performAndWait {
            meeting.come(0)
            right.performAndWait {}
          }
        },
        {
          right.performAndWait {
            meeting.come(1)
            left.performAndWait {}
          }
        })
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for part in [
      "CoreData deadlock", "waits for \"left\"", "waits for \"right\"", "in a block of \"left\"",
      "perform(_:)",
    ] { #expect(text.contains(part), "\(text)") }
  }
}
