import CoreDataStorage
import Foundation

/// The files that `clarus port` reads and may change: those in the folder that was given, and none that a
/// link in it leads to elsewhere.
struct PortingScope {
  /// What is left out, and why.
  struct Skipped {
    let url: URL
    let reason: String
  }

  /// The folder that was given; nil for a file.
  let folder: URL?
  private(set) var files: [URL] = []
  private(set) var skipped: [Skipped] = []
  /// The folder without links on the way to it.
  private let place: String

  /// - Throws: ``CommandFailure`` if there are no Swift files at the path.
  init(_ path: String) throws {
    let root = URL(fileURLWithPath: path)
    guard let found = FileStamp(path: path) else {
      throw CommandFailure("\(path): There is no such file or folder.")
    }
    guard found.kind == .folder else {
      if let reason = Self.objection(to: found.kind) { throw CommandFailure("\(path): \(reason)") }
      if root.lastPathComponent == "Package.swift" {
        throw CommandFailure(
          "\(path): It is the manifest of a package. Name the folder that it is in, or one with sources.")
      }
      guard root.pathExtension == "swift" else {
        throw CommandFailure(
          "\(path): It is no Swift source: its name does not end in .swift. Name a .swift file, or a folder with sources."
        )
      }
      (folder, place, files) = (nil, "", [root])
      return
    }
    folder = root
    place = root.resolvingSymlinksInPath().path
    try collect(in: root)
    guard !files.isEmpty else {
      let more: String = skipped.first.map { " \($0.url.lastPathComponent) is left out: \($0.reason)" } ?? ""
      throw CommandFailure("\(path): There are no Swift files in this folder.\(more)")
    }
  }

  /// Folders of build products and of packages of others.
  static let ignored: Set<String> = ["Pods", "Carthage", "DerivedData", "node_modules", "checkouts"]

  /// Whether a file, or the one that a link leads to, is in the folder.
  func contains(_ url: URL) -> Bool {
    folder != nil && url.resolvingSymlinksInPath().path.hasPrefix(place + "/")
  }

  /// Why what is no regular file can't be read as a source: reading a pipe would wait for a writer.
  private static func objection(to kind: FileKind) -> String? {
    switch kind {
    case .file, .folder: nil
    case .pipe: "It is a pipe, not a file."
    case .socket: "It is a socket, not a file."
    case .device: "It is a device, not a file."
    }
  }

  private mutating func collect(in folder: URL) throws {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    } catch {
      throw CommandFailure("\(folder.path): The folder can't be read: \(ErrorText.oneLine("\(error)")).")
    }
    for name in names.sorted() where !name.hasPrefix(".") && !Self.ignored.contains(name) {
      try add(folder.appendingPathComponent(name), name)
    }
  }

  private mutating func add(_ entry: URL, _ name: String) throws {
    let isSource: Bool = name.hasSuffix(".swift") && name != "Package.swift"
    func skip(_ reason: String) { skipped.append(Skipped(url: entry, reason: reason)) }
    let isLink: Bool = (try? FileManager.default.destinationOfSymbolicLink(atPath: entry.path)) != nil
    guard let kind = FileStamp(path: entry.path)?.kind else {
      if isSource, isLink { skip("It is a link that leads to no file.") }
      return
    }
    if isLink {
      // What is in the folder is ported where it is; a link may also lead back into the folder.
      let isInside: Bool = contains(entry) || entry.resolvingSymlinksInPath().path == place
      if !isInside, isSource || kind == .folder {
        skip("It is a link out of the folder. Port what it leads to by itself.")
      }
      return
    }
    if kind == .folder { return try collect(in: entry) }
    guard isSource else { return }
    if let reason = Self.objection(to: kind) { return skip(reason) }
    files.append(entry)
  }
}
