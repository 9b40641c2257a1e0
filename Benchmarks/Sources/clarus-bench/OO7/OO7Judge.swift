import Foundation

/// Says what an operation has to find: plain objects do the same, and the paper says how many.
final class OO7Judge {
  private let plan: OO7Plan
  /// In the state after the last `checkNext`.
  let objects: OO7Plain
  private var first: [OO7Operation: (result: OO7Result, total: Int)] = [:]

  init(_ plan: OO7Plan) {
    self.plan = plan
    objects = OO7Plain(plan)
  }

  /// What an operation finds in a new database.
  func result(of operation: OO7Operation) throws -> OO7Result { try expectation(of: operation).result }

  func check(_ found: OO7Result, _ operation: OO7Operation, by contestant: String) throws {
    try compare(found, expectation(of: operation).result, operation, contestant)
  }

  /// Compares the sum over a file's atomic parts with that after an operation on a new database.
  func checkTotal(of store: URL, after operation: OO7Operation) throws {
    let found: Int = try OO7Floor.total(of: store)
    let wanted: Int = try expectation(of: operation).total
    guard found == wanted else {
      throw BenchmarkError("OO7 \(operation.title): the file's sum is \(found), not \(wanted)")
    }
  }

  /// Does the same as the contestant has just done, and compares.
  func checkNext(_ found: OO7Result, _ operation: OO7Operation, by contestant: String) throws {
    try compare(found, objects.run(operation), operation, contestant)
  }

  private func expectation(of operation: OO7Operation) throws -> (result: OO7Result, total: Int) {
    if let known = first[operation] { return known }
    let twin: OO7Plain = operation.isUpdate ? OO7Plain(plan) : objects
    if operation == .delete { _ = twin.run(.insert) }
    let result: OO7Result = twin.run(operation)
    if let count = plan.configuration.count(of: operation), count != result.count {
      throw BenchmarkError("OO7 \(operation.title): \(result.count) visited, by the paper \(count)")
    }
    first[operation] = (result, twin.total)
    return (result, twin.total)
  }

  private func compare(
    _ found: OO7Result, _ wanted: OO7Result, _ operation: OO7Operation, _ contestant: String
  ) throws {
    guard found == wanted else {
      throw BenchmarkError(
        "OO7 \(operation.title): \(contestant) found \(found.count) with sum \(found.sum), not "
          + "\(wanted.count) with sum \(wanted.sum)")
    }
  }
}

/// The files of a run.
final class OO7Stores {
  let plan: OO7Plan
  /// As the paper's, and with the composite parts that are to be deleted.
  let full: URL
  let grown: URL
  let copy: URL
  private let folder: URL
  private var number: Int = 0

  init(_ folder: URL, _ plan: OO7Plan) {
    (self.folder, self.plan) = (folder, plan)
    let size: String = plan.configuration.size.rawValue
    full = folder.appendingPathComponent("oo7-\(size).sqlite")
    grown = folder.appendingPathComponent("oo7-\(size)-grown.sqlite")
    copy = folder.appendingPathComponent("oo7-\(size)-copy.sqlite")
  }

  /// A file that no other contestant has; removed with the folder.
  func another() -> URL {
    number += 1
    return folder.appendingPathComponent("oo7-\(plan.configuration.size.rawValue)-\(number % 4).sqlite")
  }

  func copy(_ store: URL, as copy: URL) throws -> URL {
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: copy.path + suffix) {
      try FileManager.default.removeItem(atPath: copy.path + suffix)
    }
    try FileManager.default.copyItem(at: store, to: copy)
    return copy
  }
}
