import CoreData

/// OO7 over Clarus: a container, a background context, the generated classes, and navigation as a program
/// writes it.
final class OO7Stack {
  let plan: OO7Plan
  private let container: NSPersistentContainer
  private let context: NSManagedObjectContext
  private let visited: VisitedParts
  private let prefetches: Bool
  /// What was loaded at first: a context keeps nothing that its program does not.
  private var loaded: [OO7CompositePart] = []

  init(_ plan: OO7Plan, store: URL, prefetches: Bool = false) throws {
    (self.plan, self.prefetches) = (plan, prefetches)
    container = try BenchStore.open(store, Self.model())
    context = container.newBackgroundContext()
    visited = VisitedParts(plan.configuration)
  }

  static func model() throws -> NSManagedObjectModel {
    try NSManagedObjectModel.load(contentsOf: Bundle.module.bundleURL.appendingPathComponent("OO7.momd"))
      .model
  }

  func close() throws {
    loaded = []
    context.performAndWait { context.reset() }
    try BenchStore.close(container)
  }

  func run(_ operation: OO7Operation) throws -> OO7Result {
    try context.performAndWait {
      var result = OO7Result()
      switch operation {
      case .t1, .t2a, .t2b, .t2c, .t6:
        if prefetches { try loadParts() }
        try traverse(designRoot(), operation, &result)
        if operation.isUpdate { try context.save() }
      case .q1:
        for number in plan.query1Numbers {
          let request: NSFetchRequest<OO7AtomicPart> = OO7AtomicPart.fetchRequest()
          request.predicate = NSPredicate(format: "number == %ld", number)
          for part in try context.fetch(request) { result.visit(part) }
        }
      case .q2: try scan(from: OO7Range.atomicDate.lowerBound(ofLast: 1), &result)
      case .q3: try scan(from: OO7Range.atomicDate.lowerBound(ofLast: 10), &result)
      case .q4: try findUsers(&result)
      case .q5:
        let request: NSFetchRequest<OO7BaseAssembly> = OO7BaseAssembly.fetchRequest()
        request.predicate = NSPredicate(format: "ANY componentsPrivate.buildDate > buildDate")
        for assembly in try context.fetch(request) { result.add(Int(assembly.number)) }
      case .q6: _ = youngest(below: try designRoot(), &result)
      case .q7: try scan(from: nil, &result)
      case .q8: try join(&result)
      case .insert: try insert(&result)
      case .delete: try delete(&result)
      }
      return result
    }
  }

  // MARK: Traversals

  private func designRoot() throws -> OO7ComplexAssembly {
    let modules: [OO7Module] = try context.fetch(OO7Module.fetchRequest())
    guard let root = modules.first?.designRoot else { throw BenchmarkError("OO7 has no design root") }
    return root
  }

  private func traverse(
    _ assembly: OO7Assembly, _ operation: OO7Operation, _ result: inout OO7Result
  ) throws {
    if let complex = assembly as? OO7ComplexAssembly {
      for part in complex.subAssemblies { try traverse(part, operation, &result) }
      return
    }
    guard let base = assembly as? OO7BaseAssembly else { throw BenchmarkError("an assembly of no kind") }
    for composite in base.componentsPrivate {
      guard let root = composite.rootPart else { throw BenchmarkError("a composite part without a root") }
      switch operation {
      case .t6: result.visit(root)
      case .t2a:
        visited.startOver()
        var rest = OO7Result()
        root.swap(times: 1, &result)
        search(root, swaps: 0, &rest)
      case .t2b, .t2c:
        visited.startOver()
        search(root, swaps: operation == .t2b ? 1 : 4, &result)
      default:
        visited.startOver()
        search(root, swaps: 0, &result)
      }
    }
  }

  private func search(_ part: OO7AtomicPart, swaps: Int, _ result: inout OO7Result) {
    guard visited.insert(Int(part.number)) else { return }
    if swaps == 0 { result.visit(part) } else { part.swap(times: swaps, &result) }
    for connection in part.to {
      if let next = connection.to { search(next, swaps: swaps, &result) }
    }
  }

  /// One query for the composite parts and one for each level below.
  private func loadParts() throws {
    let request: NSFetchRequest<OO7CompositePart> = OO7CompositePart.fetchRequest()
    request.relationshipKeyPathsForPrefetching = ["parts.to"]
    loaded = try context.fetch(request)
  }

  // MARK: Queries

  private func scan(from date: Int?, _ result: inout OO7Result) throws {
    let request: NSFetchRequest<OO7AtomicPart> = OO7AtomicPart.fetchRequest()
    if let date { request.predicate = NSPredicate(format: "buildDate >= %ld", date) }
    for part in try context.fetch(request) { result.visit(part) }
  }

  private func findUsers(_ result: inout OO7Result) throws {
    for title in plan.query4Titles {
      let request: NSFetchRequest<OO7Document> = OO7Document.fetchRequest()
      request.predicate = NSPredicate(format: "title == %@", title)
      for document in try context.fetch(request) {
        for assembly in document.part?.usedInPrivate ?? [] { result.add(Int(assembly.number)) }
      }
    }
  }

  /// The youngest date of the composite parts below an assembly.
  private func youngest(below assembly: OO7Assembly, _ result: inout OO7Result) -> Int {
    var date: Int = 0
    if let base = assembly as? OO7BaseAssembly {
      for composite in base.componentsPrivate { date = max(date, Int(composite.buildDate)) }
    } else if let complex = assembly as? OO7ComplexAssembly {
      for part in complex.subAssemblies { date = max(date, youngest(below: part, &result)) }
    }
    if date > Int(assembly.buildDate) { result.add(Int(assembly.number)) }
    return date
  }

  /// No relationship leads from a part to the document with its number, so the join is a dictionary's; of the
  /// documents only the numbers are read.
  private func join(_ result: inout OO7Result) throws {
    let request = NSFetchRequest<NSDictionary>(entityName: "Document")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["number"]
    var numbers: Set<Int> = []
    for document in try context.fetch(request) {
      if let number = document["number"] as? Int { numbers.insert(number) }
    }
    for part in try context.fetch(OO7AtomicPart.fetchRequest()) {
      let document: Int = Int(part.docID)
      if numbers.contains(document) { result.add(Int(part.number) &* document) }
    }
  }

  // MARK: Structural modifications

  private func insert(_ result: inout OO7Result) throws {
    let request: NSFetchRequest<OO7BaseAssembly> = OO7BaseAssembly.fetchRequest()
    request.predicate = NSPredicate(format: "number IN %@", plan.updatedAssemblies)
    var assemblies: [Int: OO7BaseAssembly] = [:]
    for assembly in try context.fetch(request) { assemblies[Int(assembly.number)] = assembly }
    let new: [OO7CompositePart] = plan.newComposites.map { OO7CompositePart.make($0, in: context) }
    for (turn, number) in plan.updatedAssemblies.enumerated() {
      assemblies[number]?.addToComponentsPrivate(new[turn % new.count])
    }
    for composite in new {
      for part in composite.parts { result.visit(part) }
    }
    try context.save()
  }

  private func delete(_ result: inout OO7Result) throws {
    let request: NSFetchRequest<OO7CompositePart> = OO7CompositePart.fetchRequest()
    request.predicate = NSPredicate(format: "number IN %@", plan.newComposites.map(\.number))
    for composite in try context.fetch(request) {
      for part in composite.parts { result.visit(part) }
      context.delete(composite)
    }
    try context.save()
  }
}

extension OO7Result {
  mutating func visit(_ part: OO7AtomicPart) { visit(x: Int(part.x), y: Int(part.y)) }
}

extension OO7AtomicPart {
  func swap(times: Int, _ result: inout OO7Result) {
    for _ in 0..<times {
      (x, y) = (y, x)
      result.visit(self)
    }
  }
}
