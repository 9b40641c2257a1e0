import Foundation

/// The floor of changes in memory: objects of Swift with strong references and sets, an inverse updated by
/// hand, and a list of closures that undo everything.
final class PlainFolder: Hashable {
  let number: Int64
  var documents: Set<PlainDocument> = []
  var isDeleted: Bool = false

  init(number: Int64) { self.number = number }

  static func == (one: PlainFolder, other: PlainFolder) -> Bool { one === other }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

final class PlainDocument: Hashable {
  var number: Int64
  var title: String
  unowned(unsafe) var folder: PlainFolder
  var isDeleted: Bool = false

  init(number: Int64, title: String, folder: PlainFolder) {
    (self.number, self.title, self.folder) = (number, title, folder)
  }

  static func == (one: PlainDocument, other: PlainDocument) -> Bool { one === other }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

final class PlainGraph {
  var folders: [PlainFolder] = []
  var documents: [PlainDocument] = []
  private var undos: [() -> Void]?

  init(count: Int, undo: Bool = false) {
    undos = undo ? [] : nil
    for number in 0..<count {
      if number % BenchFolder.membersEach == 0 { folders.append(PlainFolder(number: Int64(folders.count))) }
      let folder: PlainFolder = folders[folders.count - 1]
      let document = PlainDocument(number: Int64(number), title: "Document \(number)", folder: folder)
      folder.documents.insert(document)
      documents.append(document)
    }
  }

  func apply(_ change: GraphChange) {
    switch change {
    case .set: for document in documents { set(document, document.number + 1) }
    case .move:
      for (place, document) in documents.enumerated() {
        move(document, folders[GraphChange.newFolder(of: place, among: folders.count)])
      }
    case .link:
      for place in documents.indices {
        link(folders[GraphChange.newFolder(of: place, among: folders.count)])
      }
    case .delete: for folder in folders { delete(folder) }
    }
  }

  func undo() {
    let steps: [() -> Void] = undos ?? []
    undos = nil
    for step in steps.reversed() { step() }
  }

  /// A checksum of the graph.
  var sum: Int {
    var sum = GraphSum()
    for (place, document) in documents.enumerated() where !document.isDeleted {
      sum.add(place, number: document.number, folder: document.folder.number)
    }
    return sum.value
  }

  private func set(_ document: PlainDocument, _ number: Int64) {
    let old: Int64 = document.number
    document.number = number
    undos?.append { document.number = old }
  }

  private func link(_ folder: PlainFolder) {
    let document = PlainDocument(
      number: Int64(documents.count), title: NewDocument.title, folder: folder)
    documents.append(document)
    folder.documents.insert(document)
    undos?.append {
      document.isDeleted = true
      folder.documents.remove(document)
    }
  }

  private func move(_ document: PlainDocument, _ folder: PlainFolder) {
    let old: PlainFolder = document.folder
    old.documents.remove(document)
    document.folder = folder
    folder.documents.insert(document)
    undos?.append {
      folder.documents.remove(document)
      document.folder = old
      old.documents.insert(document)
    }
  }

  private func delete(_ folder: PlainFolder) {
    for document in folder.documents {
      document.isDeleted = true
      undos?.append { document.isDeleted = false }
    }
    folder.isDeleted = true
    undos?.append { folder.isDeleted = false }
  }
}
