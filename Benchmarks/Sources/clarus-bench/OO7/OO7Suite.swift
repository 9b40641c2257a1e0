import Foundation

/// OO7, cold and warm.
///
/// cold: the store was just opened; nothing of it is in the context, in the row cache or in SQLite's page
/// cache (the operating system has the file). warm: the operation was run before in the same context or
/// connection.
/// Every result is compared with that of plain objects, and its count with the paper's.
struct OO7Suite {
  var folder: URL
  var size: OO7Size
  var rounds: Int
  var operations: [OO7Operation] = OO7Operation.allCases
  var parts: [Part] = Part.allCases
  var progress: (String) -> Void = { _ in }

  enum Part: String, CaseIterable {
    case create, cold, warm
  }

  struct Heading: RacePart {
    let rawValue: String
    let title: String

    init(_ part: Part, _ size: OO7Size) {
      rawValue = "oo7-\(size.rawValue)-\(part.rawValue)"
      title = "OO7 \(size.rawValue), \(part.rawValue)"
    }

    init?(rawValue: String) { nil }
  }

  func run() throws -> [Race.Outcome] {
    let plan = OO7Plan(OO7Configuration(size))
    try plan.check()
    let stores = OO7Stores(folder, plan)
    progress("OO7 \(size.rawValue): creating the database")
    let creation: Race.Outcome = try create(stores)
    var outcomes: [Race.Outcome] = parts.contains(.create) ? [creation] : []
    // One set of plain objects judges what changes nothing; the others need their own.
    let judge = OO7Judge(plan)
    for part in parts where part != .create {
      for operation in operations {
        progress("OO7 \(size.rawValue), \(part.rawValue): \(operation.title)")
        let expected: OO7Result = try judge.result(of: operation)
        let race = Race(
          part: Heading(part, size), title: operation.title, operations: max(1, expected.count),
          rounds: rounds)
        outcomes.append(
          try race.runCounting {
            part == .cold ? cold(operation, stores, judge) : warm(operation, stores, judge)
          })
      }
    }
    return outcomes
  }

  private func create(_ stores: OO7Stores) throws -> Race.Outcome {
    let configuration: OO7Configuration = stores.plan.configuration
    let objects: Int =
      configuration.atomicParts + configuration.connections + 2 * configuration.numCompPerModule
      + configuration.baseAssemblies + configuration.complexAssemblies + 2
    let race = Race(
      part: Heading(.create, size), title: "make all objects, save", operations: objects, rounds: 1)
    let outcome: Race.Outcome = try race.run([
      Race.Contestant(
        "Clarus",
        body: {
          try OO7Stack.write(stores.plan, to: stores.full)
          return objects
        })
    ])
    try OO7Floor.check(stores.full, configuration)
    let stack = try OO7Stack(stores.plan, store: try stores.copy(stores.full, as: stores.grown))
    _ = try stack.run(.insert)
    try stack.close()
    return outcome
  }

  // MARK: Cold

  private func cold(_ operation: OO7Operation, _ stores: OO7Stores, _ judge: OO7Judge) -> [Race.Contestant] {
    var contestants: [Race.Contestant] = []
    func floor(_ name: String, keepsParts: Bool = false) {
      var floor: OO7Floor?
      var result = OO7Result()
      contestants.append(
        Race.Contestant(
          name, against: operation == .t1 ? "C, keeps parts" : "C",
          prepare: { floor = try OO7Floor(stores.plan, store: stores.full, keepsParts: keepsParts) },
          body: {
            result = try floor?.run(operation) ?? result
            return result.count
          },
          finish: {
            floor?.close()
            floor = nil
            try judge.check(result, operation, by: name)
            return nil
          }))
    }
    func clarus(_ name: String, prefetches: Bool = false) {
      var stack: OO7Stack?
      var store: URL = stores.full
      var result = OO7Result()
      contestants.append(
        Race.Contestant(
          name, against: operation == .t1 ? "C, keeps parts" : "C",
          prepare: {
            if operation.isUpdate {
              store = try stores.copy(operation == .delete ? stores.grown : stores.full, as: stores.copy)
            }
            stack = try OO7Stack(stores.plan, store: store, prefetches: prefetches)
          },
          body: {
            result = try stack?.run(operation) ?? result
            return result.count
          },
          finish: {
            try stack?.close()
            stack = nil
            try judge.check(result, operation, by: name)
            if operation.isUpdate { try judge.checkTotal(of: store, after: operation) }
            return nil
          }))
    }
    if operation == .t1 { floor("C, keeps parts", keepsParts: true) }
    if OO7Floor.has(operation) { floor(operation == .t1 ? "C, a statement a step" : "C") }
    clarus("Clarus")
    if operation == .t1 { clarus("Clarus, prefetching", prefetches: true) }
    return contestants
  }

  // MARK: Warm

  private func warm(_ operation: OO7Operation, _ stores: OO7Stores, _ judge: OO7Judge) -> [Race.Contestant] {
    var contestants: [Race.Contestant] = []
    let hasPlain: Bool = operation.isTraversal || operation == .q6
    if hasPlain {
      contestants.append(
        warm(
          "Swift objects", nil, operation, stores, judge,
          open: { _ in operation.isUpdate ? OO7Plain(stores.plan) : judge.objects }, run: { $0.run($1) },
          close: { _ in }))
    }
    if OO7Floor.has(operation) {
      contestants.append(
        warm(
          "C", hasPlain ? "Swift objects" : nil, operation, stores, judge,
          open: { try OO7Floor(stores.plan, store: $0()) }, run: { try $0.run($1) }, close: { $0.close() }))
    }
    contestants.append(
      warm(
        "Clarus", hasPlain ? "Swift objects" : "C", operation, stores, judge,
        open: { try OO7Stack(stores.plan, store: $0()) }, run: { try $0.run($1) }, close: { try $0.close() }))
    return contestants
  }

  /// Opened once, and run once before the first round. Where the database changes, objects of its own do all
  /// the same.
  private func warm<Player>(
    _ name: String, _ base: String?, _ operation: OO7Operation, _ stores: OO7Stores, _ judge: OO7Judge,
    open: @escaping (() throws -> URL) throws -> Player,
    run: @escaping (Player, OO7Operation) throws -> OO7Result,
    close: @escaping (Player) throws -> Void
  ) -> Race.Contestant {
    var player: Player?
    var twin: OO7Judge = judge
    var result = OO7Result()
    func check(_ result: OO7Result, _ operation: OO7Operation) throws {
      if twin === judge {
        try judge.check(result, operation, by: name)
      } else {
        try twin.checkNext(result, operation, by: name)
      }
    }
    /// Runs an operation that is not measured.
    func also(_ operation: OO7Operation) throws {
      if let player { try check(try run(player, operation), operation) }
    }
    return Race.Contestant(
      name, against: base,
      prepare: {
        if player == nil {
          player = try open {
            operation.isUpdate ? try stores.copy(stores.full, as: stores.another()) : stores.full
          }
          if operation.isUpdate { twin = OO7Judge(stores.plan) }
          if operation == .delete { try also(.insert) }
          try also(operation)
          if operation == .insert { try also(.delete) }
        }
        if operation == .delete { try also(.insert) }
      },
      body: {
        if let player { result = try run(player, operation) }
        return result.count
      },
      finish: {
        try check(result, operation)
        if operation == .insert { try also(.delete) }
        return nil
      },
      end: {
        if let player { try close(player) }
        player = nil
        twin = judge
      })
  }
}
