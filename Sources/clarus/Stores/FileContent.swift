import CoreDataGraph
import CoreDataSQLite
import CoreDataStorage
import Foundation

/// What a path holds, recognised by content, never by name.
enum FileContent: Equatable {
  /// A store of a supported kind; with its type.
  case store(String)
  case model
  case propertyList
  case unknown(String)

  /// Reads the first bytes. Throws one line for a path that can't be read.
  static func recognize(_ path: String) throws -> FileContent {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw CommandFailure("\(path): There is no such file.")
    }
    if isFolder.boolValue {
      if ModelArgument.isModelPackage(path) { return .model }
      throw CommandFailure("\(path): It is a folder; name the store file inside it.")
    }
    if let objection = StoreFileState(url: URL(fileURLWithPath: path)).placeObjection {
      throw CommandFailure("\(path): \(objection)")
    }
    let head: Data
    do throws(DatabaseBytes.Unreadable) {
      // The command may already have the file open as a store.
      head = Data(try DatabaseBytes(path: path).read(upTo: 4096))
    } catch {
      throw CommandFailure("\(path): The file can't be read: \(String(cString: strerror(error.code))).")
    }
    if head.isEmpty { throw CommandFailure("\(path): The file is empty.") }
    return recognize(head)
  }

  /// Recognises the kind by the first bytes of a file.
  static func recognize(_ head: Data) -> FileContent {
    if let kind = StoreRegistry.kind(ofFileThatBegins: head) { return .store(kind.type) }
    if head.starts(with: Data("bplist".utf8)) { return .propertyList }
    // Byte order marks and the declaration come before the root element.
    let text = String(decoding: head, as: UTF8.self)
    let start: String = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }.description
    if start.hasPrefix("<") {
      if text.contains("com.apple.IDECoreDataModeler.DataModel") { return .model }
      return .unknown("an XML file, which is no model either")
    }
    let looksLikeText: Bool = !head.contains { $0 == 0 }
    return .unknown(looksLikeText ? "a text file" : "a file of another kind")
  }

  /// The kind of the store at a path with this content. Throws unless it is one that can be opened.
  func storeKind(at path: String) throws -> any StoreEngineKind {
    switch self {
    case .store(let type):
      guard let kind = StoreRegistry.fileKind(ofType: type) else {
        throw CommandFailure("\(path): Stores of type \(type) can't be read here.")
      }
      return kind
    case .model, .propertyList:
      throw CommandFailure("\(path): It is no store; for models use `clarus model show`.")
    case .unknown(let what): throw CommandFailure("\(path): It is no Core Data store but \(what).")
    }
  }
}
