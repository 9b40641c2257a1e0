import CoreDataModelEditing
import Foundation
import SwiftSources

/// The sources of a folder, as they are and as they are to be.
struct PortedSources {
  /// A file that changes, or is new.
  struct Change {
    let url: URL
    /// As messages name it.
    let path: String
    let old: String?
    let new: String
    let lineCount: Int

    var diff: String { UnifiedDiff.text(from: old ?? "", to: new, path: path) }
  }

  private(set) var changes: [Change] = []
  private var findings: [PortingFinding] = []
  /// The same with their places in the files as they are to be.
  private var findingsWhenWritten: [PortingFinding] = []
  /// Files that are not understood, with the reason at its line.
  private(set) var unread: [SourceFailure] = []
  /// What is not ported, and why.
  private(set) var skipped: [(path: String, reason: String)] = []
  private(set) var fileCount: Int = 0
  /// What manifests lack and have to be given by hand.
  private(set) var manifestNotes: [String] = []
  /// How many places of manifests these are about.
  private var manifestPlaces: Int = 0

  /// The files of a module that has to say which of the ambiguous names are meant.
  private struct AmbiguousModule {
    let folder: URL
    let first: URL
  }

  private let scope: PortingScope
  /// The names of the modules among the sources.
  private var modules: Set<String> = []
  private var ambiguousModules: [AmbiguousModule] = []
  private var needs: [URL: PackageManifest.Needs] = [:]

  /// - Throws: ``CommandFailure`` if there are no Swift files at the path.
  init(_ path: String) throws {
    scope = try PortingScope(path)
    let root = URL(fileURLWithPath: path)
    let isFolder: Bool = scope.folder != nil
    fileCount = scope.files.count
    let all = Self.modules(scope.files, root: isFolder ? root : root.deletingLastPathComponent())
    // A folder of an app may have the name of Apple's module too: only targets are modules.
    modules = Set(
      all.compactMap { folder, urls in
        urls.first.flatMap { PackageManifest(above: folder)?.target(of: $0)?.name }
      })
    for (folder, urls) in all {
      try port(urls, in: folder) { url in isFolder ? Self.shown(url, under: root, as: path) : path }
    }
    // What is made for a single file lies beside it.
    let (base, shown): (URL, String) =
      isFolder
      ? (root, path)
      : (root.deletingLastPathComponent(), String(path.dropLast(root.lastPathComponent.count)))
    addToManifests { Self.shown($0, under: base, as: shown.isEmpty ? "." : shown) }
    let found = scope.skipped.map { (path: Self.shown($0.url, under: root, as: path), reason: $0.reason) }
    skipped += found.filter { entry in !skipped.contains { $0.path == entry.path } }
    findings.sort { ($0.path, $0.line, $0.column) < ($1.path, $1.line, $1.column) }
    findingsWhenWritten.sort { ($0.path, $0.line, $0.column) < ($1.path, $1.line, $1.column) }
  }

  /// The path of a file as the user would write it.
  private static func shown(_ url: URL, under root: URL, as path: String) -> String {
    let rest: Substring = url.standardizedFileURL.path.dropFirst(root.standardizedFileURL.path.count)
      .drop { $0 == "/" }
    if path == "." { return String(rest) }
    return path.hasSuffix("/") ? path + rest : "\(path)/\(rest)"
  }

  /// The files of each module: those of one folder in `Sources` or `Tests`, or all.
  private static func modules(_ files: [URL], root: URL) -> [(folder: URL, files: [URL])] {
    var order: [String] = []
    var groups: [String: [URL]] = [:]
    for file in files {
      let parts: [String] = file.standardizedFileURL.pathComponents
      var folder: String = root.standardizedFileURL.path
      if let place = parts.lastIndex(where: { $0 == "Sources" || $0 == "Tests" }), place + 2 < parts.count {
        folder = "/" + parts[1...(place + 1)].joined(separator: "/")
      }
      if groups[folder] == nil { order.append(folder) }
      groups[folder, default: []].append(file)
    }
    return order.map { (URL(fileURLWithPath: $0), groups[$0] ?? []) }
  }

  private mutating func port(_ urls: [URL], in folder: URL, path: (URL) -> String) throws {
    var sources: [SourceText] = []
    var read: [URL] = []
    for url in urls {
      do {
        let source = try SourceText(contentsOf: url, path: path(url))
        let file: ScannedFile = try DeclarationScanner.scan(source)
        sources.append(source)
        read.append(url)
        needs[url] = PackageManifest.Needs(
          library: file.imports.contains { $0.module == "CoreData" },
          accessors: file.declarations.contains(where: \.isManaged))
      } catch let failure as SourceFailure {
        unread.append(failure)
      } catch {
        throw CommandFailure("\(path(url)): The file can't be read: \(ErrorText.oneLine("\(error)")).")
      }
    }
    let others: Set<String> = modules.subtracting([folder.lastPathComponent])
    let porter = try Porter(sources, modules: others, style: .kept)
    let results: [Porter.Result] = try porter.results()
    for (url, result) in zip(read, results) {
      findings += result.findings
      findingsWhenWritten += result.findingsWhenWritten
      if result.text != result.source.text {
        changes.append(
          Change(
            url: url, path: result.source.path, old: result.source.text, new: result.text,
            lineCount: result.changedLineCount))
      }
    }
    if let first = read.first, results.contains(where: { $0.findings.contains { $0.rule == .ambiguousName } })
    {
      ambiguousModules.append(AmbiguousModule(folder: folder, first: first))
    }
  }

  // MARK: Manifests

  /// Adds library and plugins to the targets whose sources need them, and a file of aliases to the modules
  /// for which no plugin writes one.
  private mutating func addToManifests(path: (URL) -> String) {
    var manifests: [URL: PackageManifest] = [:]
    var targets: [URL: (manifest: URL, target: PackageManifest.Target, needs: PackageManifest.Needs)] = [:]
    var known: [URL: PackageManifest?] = [:]
    for (url, need) in needs {
      let folder: URL = url.deletingLastPathComponent()
      let found: PackageManifest? = known[folder] ?? PackageManifest(above: folder)
      known[folder] = .some(found)
      guard let manifest = found, let target = manifest.target(of: url) else { continue }
      manifests[manifest.url] = manifest
      var all: PackageManifest.Needs =
        targets[target.folder]?.needs ?? PackageManifest.Needs(models: Self.hasModels(in: target.folder))
      all.library = all.library || need.library
      all.accessors = all.accessors || need.accessors
      targets[target.folder] = (manifest.url, target, all)
    }
    for (url, manifest) in manifests.sorted(by: { $0.key.path < $1.key.path }) {
      let wanting = targets.values.filter { $0.manifest == url && $0.needs.library }
        .sorted { $0.target.name < $1.target.name }
      add(wanting.map { ($0.target, $0.needs) }, to: manifest, path: path)
    }
    for module in ambiguousModules {
      let manifest: PackageManifest? = known[module.first.deletingLastPathComponent()] ?? nil
      let isWritten: Bool =
        manifest?.target(of: module.first).map { owner in
          targets[owner.folder]?.needs.models == true || manifest?.has("CoreDataModelPlugin", owner) == true
        } ?? Self.hasModels(in: module.folder)
      let file: URL = module.folder.appendingPathComponent(Porter.aliasFileName)
      if isWritten || FileManager.default.fileExists(atPath: file.path) { continue }
      if (try? FileManager.default.destinationOfSymbolicLink(atPath: file.path)) != nil {
        skipped.append((path(file), "It is a link that leads to no file, where a file of aliases is needed."))
        continue
      }
      changes.append(
        Change(
          url: file, path: path(file), old: nil, new: Porter.aliases,
          lineCount: Porter.aliases.count { $0.isNewline }))
    }
  }

  /// Changes a manifest within the folder that is ported; says of another one what is to be written.
  private mutating func add(
    _ targets: [(target: PackageManifest.Target, needs: PackageManifest.Needs)], to manifest: PackageManifest,
    path: (URL) -> String
  ) {
    let isInside: Bool = scope.contains(manifest.url)
    let name: String = isInside ? path(manifest.url) : "Package.swift"
    var manifest: PackageManifest = manifest
    var notes: [String] = []
    for (target, needs) in targets {
      let (dependencies, plugins) = manifest.missing(needs, target)
      if dependencies.isEmpty, plugins.isEmpty { continue }
      if isInside, manifest.package != nil, manifest.add(needs, to: target) { continue }
      let texts: [String] = [("dependencies", dependencies), ("plugins", plugins)].filter { !$0.1.isEmpty }
        .map { "\($0.0): [\($0.1.joined(separator: ", "))]" }
      notes.append("\(name): the target \(target.name) needs \(texts.joined(separator: " and "))")
    }
    if !notes.isEmpty {
      manifestNotes.append(
        manifest.package == nil
          ? "\(name) doesn't name Clarus yet: add .package(url: \"…/clarus\", branch: \"main\"), or .package(name: \"clarus\", "
            + "path: …) for a copy, to its dependencies"
          : "\(name) names Clarus already; what is missing has to be added by hand"
            + (isInside ? ", since a list of it is computed" : ", since it is outside of the folder"))
    }
    manifestNotes += notes
    manifestPlaces += notes.count + (manifest.package == nil && !notes.isEmpty ? 1 : 0)
    if manifest.new != manifest.old {
      changes.append(
        Change(
          url: manifest.url, path: name, old: manifest.old, new: manifest.new,
          lineCount: manifest.changedLineCount))
    }
  }

  private static func hasModels(in folder: URL) -> Bool {
    guard let walk = FileManager.default.enumerator(atPath: folder.path) else { return false }
    while let name = walk.nextObject() as? String {
      let last: Substring = name.split(separator: "/").last ?? ""
      if last.hasPrefix(".") || PortingScope.ignored.contains(String(last)) { walk.skipDescendants() }
      if [".xcdatamodeld", ".xcdatamodel", ".xcmappingmodel"].contains(where: { last.hasSuffix($0) }) {
        return true
      }
    }
    return false
  }

  // MARK: Results

  func write() throws {
    for change in changes { try FileReplacement.check(change.url) }
    for change in changes { try FileReplacement.write(Data(change.new.utf8), to: change.url) }
  }

  private var changedLineCount: Int { changes.reduce(0) { $0 + $1.lineCount } }

  /// The findings where a reader finds them now.
  private func places(_ written: Bool) -> [PortingFinding] { written ? findingsWhenWritten : findings }

  func writeReport(to output: StandardOutput, written: Bool, verbose: Bool) throws {
    let shown: [PortingFinding] = places(written).filter { verbose || $0.rule.outcome != .rewritten }
    if !shown.isEmpty {
      // A place without its line would be none.
      var table = TextTable([
        .whole(title: "place", shown.map(\.place)), TextTable.Column(title: "source"),
        TextTable.Column(title: "outcome"),
        TextTable.Column(title: "page"),
      ])
      for finding in shown {
        try table.add(
          [
            finding.place, finding.excerpt, finding.rule.outcome.rawValue, finding.rule.page,
          ], to: output)
      }
      try table.finish(output)
      try output.writeLine()
      for rule in PortingRule.allCases where shown.contains(where: { $0.rule == rule }) {
        let count: Int = shown.count { $0.rule == rule }
        try output.writeLine("\(rule.rawValue) (\(Counted.text(count, "place", "places"))): \(rule.advice)")
      }
      try writeDetails(of: shown, to: output)
      try output.writeLine()
    }
    for failure in unread {
      try output.writeLine("\(failure.path):\(failure.line): not understood, not changed: \(failure.message)")
    }
    for (path, reason) in skipped {
      try output.writeLine(DisplayWidth.escaped("\(path): left out: \(reason)"))
    }
    for note in manifestNotes { try output.writeLine(note) }
    let left: Int = findings.count { $0.rule.outcome == .left } + manifestPlaces
    let checks: Int = findings.count { $0.rule.outcome == .check }
    let verb: String = written ? "changed" : "to change"
    try output.writeLine(
      """
      \(Counted.text(fileCount, "file", "files")); \(Counted.text(changedLineCount, "line", "lines")) \(verb) in \
      \(Counted.text(changes.count, "file", "files")); \(Counted.text(left, "place", "places")) left to do by hand\
      \(checks == 0 ? "" : ", \(checks) to look at").
      """)
  }

  /// What is to be said of single places; once where it is the same of several.
  private func writeDetails(of shown: [PortingFinding], to output: StandardOutput) throws {
    var told: Set<String> = []
    for finding in shown {
      guard let detail = finding.detail, told.insert(detail).inserted else { continue }
      let more: Int = shown.count { $0.detail == detail } - 1
      let others: String = more == 0 ? "" : " (and in \(Counted.text(more, "other place", "other places")))"
      try output.writeLine("\(finding.path):\(finding.line)\(others): \(detail)")
    }
  }

  func json(written: Bool) -> JSONText {
    .object([
      (
        "files",
        .array(
          changes.map {
            .object([("path", .string($0.path)), ("changedLines", .integer(Int64($0.lineCount)))])
          })
      ),
      ("changedLines", .integer(Int64(changedLineCount))), ("written", .bool(written)),
      (
        "findings",
        .array(
          places(written).map {
            .object([
              ("path", .string($0.path)), ("line", .integer(Int64($0.line))),
              ("column", .integer(Int64($0.column))), ("rule", .string($0.rule.rawValue)),
              ("outcome", .string($0.rule.outcome.rawValue)), ("source", .string($0.excerpt)),
              ("message", .string($0.detail ?? $0.rule.advice)), ("page", .string($0.rule.page)),
            ])
          })
      ),
      (
        "unread",
        .array(unread.map { .object([("path", .string($0.path)), ("message", .string($0.message))]) })
      ),
      (
        "skipped",
        .array(skipped.map { .object([("path", .string($0.path)), ("message", .string($0.reason))]) })
      ), ("manifest", .array(manifestNotes.map { .string($0) })),
    ])
  }
}

extension PortingFinding {
  fileprivate var place: String { "\(path):\(line):\(column)" }
}

extension TypeDeclaration {
  /// Whether it, or a type in it, has a member with `@NSManaged`.
  fileprivate var isManaged: Bool { !members.isEmpty || types.contains { $0.isManaged } }
}
