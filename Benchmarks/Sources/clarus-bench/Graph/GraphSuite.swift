import Foundation

/// The changes of the graph.
enum GraphChange: CaseIterable {
  case set, move, link, delete

  var title: String {
    switch self {
    case .set: "set one property of each document"
    case .move: "move each document to another folder, inverses kept"
    case .link: "make as many documents again and link each to a folder, inverses kept"
    case .delete: "delete the folders, which cascades to each document"
    }
  }

  /// Each document moves to the folder after its own.
  static func newFolder(of document: Int, among folders: Int) -> Int {
    (document / BenchFolder.membersEach + 1) % folders
  }
}

/// The values of new documents.
enum NewDocument {
  static let title: String = "New document"
}

/// A checksum of a graph, which shows that all contestants have done the same.
struct GraphSum {
  private(set) var value: Int = 0

  mutating func add(_ document: Int, number: Int64, folder: Int64) {
    value &+= 1 &+ Int(number) &+ Int(folder) &* (document % 1_009 &+ 1)
  }
}

/// Changes of a graph of objects: in memory beside objects of Swift, undone, and saved beside SQL by hand.
struct GraphSuite {
  var folder: URL
  /// Documents; there is a folder for each hundred.
  var count: Int
  var rounds: Int
  var parts: [Part] = Part.allCases
  var progress: (String) -> Void = { _ in }

  enum Part: String, CaseIterable, RacePart {
    case change, undo, save, cold

    var title: String {
      switch self {
      case .change: "Changing objects in memory, beside objects of Swift with inverses kept by hand"
      case .undo: "Taking it all back, beside a list of closures"
      case .save: "Changing and saving, beside SQL by hand"
      case .cold: "Deleting with a cascade, nothing in memory but the keys or objects of the owners"
      }
    }
  }

  func run() throws -> [Race.Outcome] {
    progress("writing \(count.formatted) documents")
    let template: URL = folder.appendingPathComponent("folders-\(count).sqlite")
    try FolderStack.write(count, to: template)
    return try parts.flatMap { part in
      try (part == .cold ? [.delete] : GraphChange.allCases).map { change in
        switch part {
        case .change: try raceChange(change, template)
        case .undo: try raceUndo(change, template)
        case .save: try raceSave(change, template)
        case .cold: try raceCold(template)
        }
      }
    }
  }

  func race(_ part: Part, _ change: GraphChange) -> Race {
    progress("\(part.rawValue): \(change.title)")
    return Race(part: part, title: change.title, operations: count, rounds: rounds)
  }

  private func raceChange(_ change: GraphChange, _ template: URL) throws -> Race.Outcome {
    func plain(_ name: String, undo: Bool) -> Race.Contestant {
      self.plain(name, undo: undo) { $0.apply(change) }
    }
    func managed(_ name: String, against base: String, undo: Bool) -> Race.Contestant {
      self.managed(name, against: base, template, undo: undo) { $0.apply(change) }
    }
    return try race(.change, change).run([
      plain("Swift objects", undo: false), plain("Swift objects, undo", undo: true),
      managed("Clarus", against: "Swift objects", undo: false),
      managed("Clarus, undo", against: "Swift objects, undo", undo: true),
    ])
  }

  private func raceUndo(_ change: GraphChange, _ template: URL) throws -> Race.Outcome {
    try race(.undo, change).run([
      plain("Swift objects", undo: true, first: { $0.apply(change) }) { $0.undo() },
      managed("Clarus", against: "Swift objects", template, undo: true, first: { $0.apply(change) }) {
        $0.undo()
      },
    ])
  }

  /// `body` is measured, `first` runs before the clock starts.
  private func plain(
    _ name: String, undo: Bool, first: @escaping (PlainGraph) -> Void = { _ in },
    body: @escaping (PlainGraph) -> Void
  ) -> Race.Contestant {
    var graph: PlainGraph?
    return Race.Contestant(
      name,
      prepare: {
        graph = PlainGraph(count: count, undo: undo)
        graph.map(first)
      },
      body: {
        graph.map(body)
        return 0
      },
      finish: {
        defer { graph = nil }
        return graph?.sum
      })
  }

  private func managed(
    _ name: String, against base: String, _ template: URL, undo: Bool,
    first: @escaping (FolderStack) -> Void = { _ in }, body: @escaping (FolderStack) -> Void
  ) -> Race.Contestant {
    var stack: FolderStack?
    return Race.Contestant(
      name, against: base,
      prepare: {
        stack = try FolderStack(store: template, undo: undo)
        stack.map(first)
      },
      body: {
        stack.map(body)
        return 0
      },
      finish: {
        defer { stack = nil }
        let sum: Int? = stack?.sum
        try stack?.close()
        return sum
      })
  }

  private func raceSave(_ change: GraphChange, _ template: URL) throws -> Race.Outcome {
    // Deletions: documents that are in memory are deleted by their keys, in their versions.
    let floor: String = change == .delete ? "C sqlite3, row by row" : "C sqlite3"
    var contestants: [Race.Contestant] = [
      saving(floor, against: nil, template) { store in
        if change == .delete { return try FolderRowFloor(store: store, knowsDocuments: true) }
        return try FolderFloor(store: store, change: change)
      },
      saving("GRDB, by hand", against: floor, template) { try FolderRecords(store: $0, change: change) },
      saving("Clarus", against: floor, template) { try FolderSaving(store: $0, change: change) },
    ]
    if change == .delete {
      contestants.insert(
        saving("C sqlite3, by query", against: floor, template) {
          try FolderFloor(store: $0, change: change)
        }, at: 1)
    }
    return try race(.save, change).run(contestants)
  }

  /// Each round on a fresh copy of the store; its contents are read by C afterwards.
  func saving(
    _ name: String, against base: String?, _ template: URL, _ make: @escaping (URL) throws -> any GraphSaver
  ) -> Race.Contestant {
    let store: URL = folder.appendingPathComponent("copy.sqlite")
    var saver: (any GraphSaver)?
    return Race.Contestant(
      name, against: base,
      prepare: {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: store.path + suffix) {
          try FileManager.default.removeItem(atPath: store.path + suffix)
        }
        try FileManager.default.copyItem(at: template, to: store)
        saver = try make(store)
      },
      body: {
        try saver?.run()
        return 0
      },
      finish: {
        try saver?.close()
        saver = nil
        return try FolderFloor.sum(of: store)
      })
  }
}

/// Something that makes a change to a store's documents and saves it. Data that must be in memory is read
/// before.
protocol GraphSaver {
  func run() throws
  func close() throws
}

/// Clarus, objects loaded.
struct FolderSaving: GraphSaver {
  private let stack: FolderStack
  private let change: GraphChange

  init(store: URL, change: GraphChange) throws {
    stack = try FolderStack(store: store)
    self.change = change
  }

  func run() throws {
    stack.apply(change)
    try stack.save()
  }

  func close() throws { try stack.close() }
}
