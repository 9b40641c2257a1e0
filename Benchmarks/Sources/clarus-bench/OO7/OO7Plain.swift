/// OO7 as objects of Swift: the floor of what is in memory, and the judge of every result.
///
/// Owners hold their parts, everything else is unowned. Indexes are dictionaries and one sorted array.
final class OO7Plain {
  final class Part {
    let number: Int
    let buildDate: Int
    var x: Int
    var y: Int
    let docID: Int
    unowned(unsafe) let partOf: Composite
    var to: [Connection] = []
    var from: [Connection] = []

    init(_ plan: OO7Plan.AtomicPart, _ composite: Composite) {
      (number, buildDate, x, y, docID) = (plan.number, plan.buildDate, plan.x, plan.y, plan.docID)
      partOf = composite
    }
  }

  final class Connection {
    let type: String
    let length: Int
    unowned(unsafe) let from: Part
    unowned(unsafe) let to: Part

    init(_ plan: OO7Plan.Connection, from: Part, to: Part) {
      (type, length, self.from, self.to) = (plan.type, plan.length, from, to)
    }
  }

  final class Composite {
    let number: Int
    let buildDate: Int
    let title: String
    var parts: [Part] = []
    var usedInPrivate: [Assembly] = []

    init(_ plan: OO7Plan.CompositePart) {
      (number, buildDate, title) = (plan.number, plan.buildDate, plan.documentTitle)
      parts = plan.atomicParts.map { Part($0, self) }
      for connection in plan.connections {
        let made = Connection(connection, from: parts[connection.from], to: parts[connection.to])
        parts[connection.from].to.append(made)
        parts[connection.to].from.append(made)
      }
    }

    var rootPart: Part { parts[0] }
  }

  final class Assembly {
    let number: Int
    let buildDate: Int
    let isBase: Bool
    var subAssemblies: [Assembly] = []
    var componentsPrivate: [Composite] = []

    init(_ plan: OO7Plan.Assembly) {
      (number, buildDate, isBase) = (plan.number, plan.buildDate, plan.isBase)
    }
  }

  let plan: OO7Plan
  private let designRoot: Assembly
  private let assemblies: [Assembly]
  private var composites: [Composite]
  private var partsByNumber: [Int: Part] = [:]
  private var compositesByTitle: [String: Composite] = [:]
  private let visited: VisitedParts

  init(_ plan: OO7Plan) {
    self.plan = plan
    visited = VisitedParts(plan.configuration)
    composites = plan.composites.map { Composite($0) }
    assemblies = plan.assemblies.map { Assembly($0) }
    designRoot = assemblies[0]
    for (place, assembly) in plan.assemblies.enumerated() {
      if let parent = assembly.parent { assemblies[parent].subAssemblies.append(assemblies[place]) }
      for component in assembly.componentsPrivate { refer(assemblies[place], to: composites[component]) }
    }
    for composite in composites { index(composite) }
  }

  deinit {
    // Base assemblies and composite parts hold each other.
    for assembly in assemblies { assembly.componentsPrivate = [] }
  }

  private func refer(_ assembly: Assembly, to composite: Composite) {
    assembly.componentsPrivate.append(composite)
    composite.usedInPrivate.append(assembly)
  }

  private func index(_ composite: Composite) {
    compositesByTitle[composite.title] = composite
    for part in composite.parts { partsByNumber[part.number] = part }
  }

  /// The sum over all atomic parts that C reads from a store.
  var total: Int { composites.reduce(0) { $1.parts.reduce($0) { $0 &+ $1.x &+ 3 &* $1.y } } }

  func run(_ operation: OO7Operation) -> OO7Result {
    var result = OO7Result()
    switch operation {
    case .t1, .t2a, .t2b, .t2c, .t6: traverse(designRoot, operation, &result)
    case .q1:
      for number in plan.query1Numbers { partsByNumber[number].map { result.visit(x: $0.x, y: $0.y) } }
    case .q2: scan(from: OO7Range.atomicDate.lowerBound(ofLast: 1), &result)
    case .q3: scan(from: OO7Range.atomicDate.lowerBound(ofLast: 10), &result)
    case .q4:
      for title in plan.query4Titles {
        for assembly in compositesByTitle[title]?.usedInPrivate ?? [] { result.add(assembly.number) }
      }
    case .q5:
      for assembly in assemblies where assembly.isBase {
        if assembly.componentsPrivate.contains(where: { $0.buildDate > assembly.buildDate }) {
          result.add(assembly.number)
        }
      }
    case .q6: _ = youngest(below: designRoot, &result)
    case .q7: scan(from: 0, &result)
    case .q8:
      let documents: Set<Int> = Set(composites.map(\.number))
      for composite in composites {
        for part in composite.parts where documents.contains(part.docID) {
          result.add(part.number &* part.docID)
        }
      }
    case .insert: insert(&result)
    case .delete: delete(&result)
    }
    return result
  }

  private func scan(from date: Int, _ result: inout OO7Result) {
    for composite in composites {
      for part in composite.parts where part.buildDate >= date { result.visit(x: part.x, y: part.y) }
    }
  }

  private func traverse(_ assembly: Assembly, _ operation: OO7Operation, _ result: inout OO7Result) {
    if assembly.isBase {
      for composite in assembly.componentsPrivate {
        switch operation {
        case .t6: result.visit(x: composite.rootPart.x, y: composite.rootPart.y)
        case .t2a:
          visited.startOver()
          var rest = OO7Result()
          swap(composite.rootPart, times: 1, &result)
          search(composite.rootPart, swaps: 0, &rest)
        case .t2b, .t2c:
          visited.startOver()
          search(composite.rootPart, swaps: operation == .t2b ? 1 : 4, &result)
        default:
          visited.startOver()
          search(composite.rootPart, swaps: 0, &result)
        }
      }
    } else {
      for part in assembly.subAssemblies { traverse(part, operation, &result) }
    }
  }

  private func search(_ part: Part, swaps: Int, _ result: inout OO7Result) {
    guard visited.insert(part.number) else { return }
    if swaps == 0 { result.visit(x: part.x, y: part.y) } else { swap(part, times: swaps, &result) }
    for connection in part.to { search(connection.to, swaps: swaps, &result) }
  }

  private func swap(_ part: Part, times: Int, _ result: inout OO7Result) {
    for _ in 0..<times {
      (part.x, part.y) = (part.y, part.x)
      result.visit(x: part.x, y: part.y)
    }
  }

  /// The youngest date of the composite parts below an assembly.
  private func youngest(below assembly: Assembly, _ result: inout OO7Result) -> Int {
    var date: Int = 0
    if assembly.isBase {
      for composite in assembly.componentsPrivate { date = max(date, composite.buildDate) }
    } else {
      for part in assembly.subAssemblies { date = max(date, youngest(below: part, &result)) }
    }
    if date > assembly.buildDate { result.add(assembly.number) }
    return date
  }

  private func insert(_ result: inout OO7Result) {
    let new: [Composite] = plan.newComposites.map { Composite($0) }
    for composite in new {
      index(composite)
      for part in composite.parts { result.visit(x: part.x, y: part.y) }
    }
    for (turn, number) in plan.updatedAssemblies.enumerated() {
      refer(assemblies[number - 1], to: new[turn % new.count])
    }
    composites += new
  }

  private func delete(_ result: inout OO7Result) {
    for composite in composites.suffix(plan.newComposites.count) {
      for assembly in composite.usedInPrivate { assembly.componentsPrivate.removeAll { $0 === composite } }
      compositesByTitle[composite.title] = nil
      for part in composite.parts {
        partsByNumber[part.number] = nil
        result.visit(x: part.x, y: part.y)
      }
    }
    composites.removeLast(plan.newComposites.count)
  }
}

extension ClosedRange<Int> {
  /// The first value of the last so many per cent.
  func lowerBound(ofLast percent: Int) -> Int { upperBound + 1 - count * percent / 100 }
}
