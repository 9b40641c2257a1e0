import CoreDataStorage
import Foundation
import SwiftSources

/// The manifest of a package as text: what a target has of Clarus, and the additions that it needs.
///
/// Only what is written out is understood: a call `.target(name: "Shop", …)` with literals. An array that is
/// computed can't be added to.
struct PackageManifest {
  /// What the sources of a target ask of its manifest.
  struct Needs: Equatable {
    var library: Bool = false
    /// Members with `@NSManaged` in classes by hand.
    var accessors: Bool = false
    var models: Bool = false
  }

  struct Target {
    let name: String
    let folder: URL
    /// The place of its declaration among the tokens: the opening parenthesis.
    fileprivate let place: Int
  }

  let url: URL
  private let source: SourceText
  private let tokens: [Token]
  /// The targets whose names are written out.
  private var targets: [Target] = []
  /// The name by which targets refer to the package of Clarus; nil if the manifest does not depend on it.
  private(set) var package: String?
  private var insertions: [(offset: Int, text: String)] = []

  /// The manifest of the package that a folder belongs to; nil if there is none that is understood.
  init?(above folder: URL) {
    var folder: URL = folder.standardizedFileURL
    while folder.path != "/" {
      let url: URL = folder.appendingPathComponent("Package.swift")
      if let found = FileStamp(path: url.path) {
        // A pipe would be waited for.
        guard found.kind == .file, let source = try? SourceText(contentsOf: url),
          let tokens = try? Lexer.tokens(of: source)
        else {
          return nil
        }
        (self.url, self.source, self.tokens) = (url, source, tokens)
        self.targets = readTargets()
        self.package = readPackage()
        return
      }
      folder.deleteLastPathComponent()
    }
    return nil
  }

  // MARK: Reading

  private func text(_ index: Int) -> String {
    tokens.indices.contains(index) ? source[tokens[index].range] : ""
  }

  /// An argument of a call, or a member of an array: its tokens, without a label.
  private struct Part {
    let label: String?
    let tokens: Range<Int>
  }

  /// What is between a bracket and its partner, and the place of the partner.
  private func parts(from open: Int) -> (parts: [Part], close: Int) {
    var parts: [Part] = []
    var start: Int = open + 1
    var depth: Int = 0
    func part(to end: Int) {
      guard start < end else { return }
      let isLabelled: Bool = text(start + 1) == ":" && tokens[start].kind == .identifier
      parts.append(
        Part(label: isLabelled ? text(start) : nil, tokens: (isLabelled ? start + 2 : start)..<end))
    }
    for index in (open + 1)..<tokens.count {
      switch text(index) {
      case "(", "[", "{": depth += 1
      case ")", "]", "}":
        if depth == 0 {
          part(to: index)
          return (parts, index)
        }
        depth -= 1
      case "," where depth == 0:
        part(to: index)
        start = index + 1
      default: break
      }
    }
    return (parts, tokens.count)
  }

  /// The opening parentheses of calls `.target(…)` and their like.
  private func calls(_ names: Set<String>) -> [Int] {
    tokens.indices.filter { names.contains(text($0)) && text($0 - 1) == "." && text($0 + 1) == "(" }
      .map { $0 + 1 }
  }

  /// A text without interpolations.
  private func literal(_ part: Part?) -> String? {
    guard let part, part.tokens.count == 1, let index = part.tokens.first, tokens[index].kind == .string
    else {
      return nil
    }
    let text: String = text(index)
    return text.count > 1 && text.hasPrefix("\"") && text.hasSuffix("\"")
      ? String(text.dropFirst().dropLast()) : nil
  }

  private func argument(_ label: String, of call: Int) -> Part? {
    parts(from: call).parts.first { $0.label == label }
  }

  private func readTargets() -> [Target] {
    calls(["target", "executableTarget", "testTarget"]).compactMap { call in
      guard let name = literal(argument("name", of: call)) else { return nil }
      let standard: String = (text(call - 1) == "testTarget" ? "Tests/" : "Sources/") + name
      let path: String = literal(argument("path", of: call)) ?? standard
      let folder: URL = url.deletingLastPathComponent().appendingPathComponent(path).standardizedFileURL
      // `.target(name:)` is a dependency too: one of another target's.
      guard FileManager.default.fileExists(atPath: folder.path) else { return nil }
      return Target(name: name, folder: folder, place: call)
    }
  }

  /// The innermost target that a file belongs to.
  func target(of file: URL) -> Target? {
    let path: String = file.standardizedFileURL.path
    return targets.filter { path.hasPrefix($0.folder.path + "/") }.max {
      $0.folder.path.count < $1.folder.path.count
    }
  }

  func has(_ word: String, _ target: Target) -> Bool {
    let close: Int = parts(from: target.place).close
    return (target.place..<close).contains { text($0) == "\"\(word)\"" }
  }

  private func readPackage() -> String? {
    for call in calls(["product", "plugin"]) {
      if ["CoreData", "CoreDataModelPlugin", "CoreDataSourcesPlugin"].contains(
        literal(argument("name", of: call))),
        let package = literal(argument("package", of: call))
      {
        return package
      }
    }
    for call in calls(["package"]) {
      guard let place = literal(argument("url", of: call)) ?? literal(argument("path", of: call)) else {
        continue
      }
      var last: String = place.split(separator: "/").last.map(String.init) ?? ""
      if last.hasSuffix(".git") { last.removeLast(4) }
      let name: String = literal(argument("name", of: call)) ?? last
      if name.lowercased() == "clarus" || last.lowercased() == "clarus" || isClarus(place) { return name }
    }
    return nil
  }

  /// Whether there is a copy of Clarus in a folder, which can have any name.
  private func isClarus(_ path: String) -> Bool {
    let folder: URL = URL(fileURLWithPath: path, relativeTo: url.deletingLastPathComponent())
    let file: URL = folder.appendingPathComponent("Package.swift")
    guard FileStamp(path: file.path)?.kind == .file else { return false }
    let manifest: String? = try? String(contentsOf: file, encoding: .utf8)
    return manifest?.contains("name: \"clarus\"") == true
  }

  // MARK: Adding

  /// What is missing in the declaration of a target, as it is to be written there.
  func missing(_ needs: Needs, _ target: Target) -> (dependencies: [String], plugins: [String]) {
    let package: String = package ?? "clarus"
    func plugin(_ name: String) -> String { ".plugin(name: \"\(name)\", package: \"\(package)\")" }
    var plugins: [String] = []
    if needs.models, !has("CoreDataModelPlugin", target) { plugins.append(plugin("CoreDataModelPlugin")) }
    if needs.accessors, !has("CoreDataSourcesPlugin", target) {
      plugins.append(plugin("CoreDataSourcesPlugin"))
    }
    let library: String = ".product(name: \"CoreData\", package: \"\(package)\")"
    return (needs.library && !has("CoreData", target) ? [library] : [], plugins)
  }

  /// Adds what is missing. False where that has to be done by hand, and nothing is added then.
  mutating func add(_ needs: Needs, to target: Target) -> Bool {
    let (dependencies, plugins) = missing(needs, target)
    let known: [Part] = parts(from: target.place).parts
    for (label, wanted) in [("dependencies", dependencies), ("plugins", plugins)] where !wanted.isEmpty {
      if let array = known.first(where: { $0.label == label }), !isArray(array) { return false }
    }
    if let name = known.first(where: { $0.label == "name" }), !dependencies.isEmpty {
      if let array = known.first(where: { $0.label == "dependencies" }) {
        append(dependencies, to: array)
      } else {
        let last: Int = name.tokens.upperBound - 1
        insert(", dependencies: [\(dependencies.joined(separator: ", "))]", at: tokens[last].range.upperBound)
      }
    }
    guard !plugins.isEmpty else { return true }
    if let array = known.first(where: { $0.label == "plugins" }) {
      var following: [String] = plugins
      // The classes of models come first: members by hand have them as types.
      if plugins[0].contains("\"CoreDataModelPlugin\""), array.tokens.count > 2 {
        insert(plugins[0] + ", ", at: tokens[array.tokens.lowerBound].range.upperBound)
        following.removeFirst()
      }
      if !following.isEmpty { append(following, to: array) }
    } else if let last = known.last {
      let end: Int = last.tokens.upperBound
      let separator: String = text(end) == "," ? " " : ", "
      let place: Int = text(end) == "," ? end : end - 1
      insert("\(separator)plugins: [\(plugins.joined(separator: ", "))]", at: tokens[place].range.upperBound)
    }
    return true
  }

  private func isArray(_ part: Part) -> Bool {
    text(part.tokens.lowerBound) == "["
      && parts(from: part.tokens.lowerBound).close == part.tokens.upperBound - 1
  }

  private mutating func append(_ texts: [String], to array: Part) {
    let before: Int = array.tokens.upperBound - 2
    let separator: String = before == array.tokens.lowerBound ? "" : text(before) == "," ? " " : ", "
    insert(separator + texts.joined(separator: ", "), at: tokens[before].range.upperBound)
  }

  private mutating func insert(_ text: String, at offset: Int) { insertions.append((offset, text)) }

  /// The number of lines with an addition.
  var changedLineCount: Int { Set(insertions.map { source.position(of: $0.offset).line }).count }

  /// The manifest as it was, and with the additions.
  var old: String { source.text }
  var new: String {
    var bytes: [UInt8] = source.bytes
    // Of two additions at one place the later one follows.
    for insertion in insertions.enumerated().sorted(by: {
      ($0.element.offset, $0.offset) > ($1.element.offset, $1.offset)
    }).map(\.element) {
      bytes.insert(contentsOf: Array(insertion.text.utf8), at: insertion.offset)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
