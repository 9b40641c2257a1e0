import Foundation

/// The accessors of the members with `@NSManaged` of a module, as a Swift file to be compiled with it.
///
/// ```swift
/// let accessors = try ManagedAccessors(
///   module: "Shop", sources: sources, compiler: compiler, folder: workFolder)
/// for remark in accessors.remarks { print(remark) }
/// try accessors.text.write(to: output, atomically: true, encoding: .utf8)
/// ```
///
/// A member with `@NSManaged` compiles without a body, and the program misses its getter, setter or method
/// when it is linked. The text declares functions under just these names. The compiler gives the names: a
/// skeleton of the module (``Skeleton``) is compiled, which takes less than a second, and its symbol graph
/// names what is declared at each line. The skeleton and its names are kept in a folder: an unchanged
/// skeleton is not compiled again (Decisions/0100).
package struct ManagedAccessors: Sendable {
  /// Swift source. Without members it is a comment.
  package let text: String
  /// The members that have no accessors, each with what to write.
  package let remarks: [SourceRemark]
  /// How many functions the text declares.
  package let functionCount: Int
  /// Whether the compiler was started.
  package let didCompile: Bool

  /// A module that the sources import, as far as its sources are known: types of it can be those of members.
  package struct Dependency: Sendable {
    package let name: String
    package let sources: [SourceText]

    package init(name: String, sources: [SourceText]) { (self.name, self.sources) = (name, sources) }
  }

  /// - Parameters:
  ///   - module: the name of the module.
  ///   - sources: all its Swift sources, generated ones too. Only their file names count, not their folders.
  ///   - beside: sources of the module whose members need no accessors; members of others can have types that
  ///     they declare.
  ///   - dependencies: modules it depends on; a dependency comes after those that depend on it.
  ///   - compiler: the compiler that will compile the module.
  ///   - folder: where the skeleton is kept between runs. It is made if it is missing.
  /// - Throws: ``SourceFailure`` where a source can't be divided into tokens, or if the compiler does not
  ///   accept the skeleton; Foundation's errors if the folder can't be written or the compiler not started.
  package init(
    module: String, sources: [SourceText], beside: [SourceText] = [], dependencies: [Dependency] = [],
    compiler: SwiftCompiler,
    folder: URL
  ) throws {
    let platform = Platform(modules: Set(dependencies.map(\.name)).union([module]))
    var files: [ScannedFile] = try sources.map { try DeclarationScanner.scan($0, on: platform) }
    files += try beside.map { source in
      var file: ScannedFile = try DeclarationScanner.scan(source, on: platform)
      file.declarations = file.declarations.map { $0.withoutMembers() }
      file.unreadMembers = []
      return file
    }
    // A source of another module that can't be read has no types for this one.
    let others: [ModuleTypes.Module] = dependencies.map { dependency in
      ModuleTypes.Module(
        name: dependency.name,
        files: dependency.sources.compactMap { try? DeclarationScanner.scan($0, on: platform) })
    }
    let types = ModuleTypes([ModuleTypes.Module(name: module, files: files)] + others)
    let members = ModuleMembers(files, types)
    var remarks: [SourceRemark] = members.remarks
    guard !members.placed.isEmpty else {
      self.init(
        text: "// No member of this module has generated accessors.\n", remarks: remarks, functionCount: 0,
        didCompile: false)
      return
    }
    let names = try SkeletonNames(members.placed, types, compiler, folder)
    for (index, reason) in names.refused.sorted(by: { $0.key < $1.key }) {
      let placed: PlacedMember = members.placed[index]
      remarks.append(members.remark(on: placed.member, placed.file, reason))
    }
    let count: Int = members.placed.indices.reduce(0) { sum, index in
      guard names.symbols[index] != nil else { return sum }
      if case .property = members.placed[index].member.form { return sum + 2 }
      return sum + 1
    }
    self.init(
      text: AccessorText.text(members.placed, symbols: names.symbols, files: files, types: types),
      remarks: remarks, functionCount: count, didCompile: names.didCompile)
  }

  private init(text: String, remarks: [SourceRemark], functionCount: Int, didCompile: Bool) {
    (self.text, self.remarks, self.functionCount, self.didCompile) =
      (text, remarks, functionCount, didCompile)
  }
}

/// The mangled names of members, by a skeleton that is compiled or was compiled before.
struct SkeletonNames {
  /// nil for members that the skeleton does not compile with.
  private(set) var symbols: [String?]
  /// Why members have no name.
  private(set) var refused: [Int: String] = [:]
  private(set) var didCompile: Bool = false

  /// What is kept of the last run.
  private struct Record: Codable {
    var fingerprint: String
    var symbols: [String?]
    var refused: [Int: String]
  }

  init(
    _ members: [PlacedMember], _ types: ModuleTypes, _ compiler: SwiftCompiler, _ folder: URL
  ) throws {
    symbols = Array(repeating: nil, count: members.count)
    let whole = Skeleton(members, types)
    let fingerprint: String = "\(compiler.fingerprint)\n\(whole.fingerprint)"
    let recordFile: URL = folder.appendingPathComponent("names.json")
    if let data = try? Data(contentsOf: recordFile),
      let record = try? JSONDecoder().decode(Record.self, from: data), record.fingerprint == fingerprint,
      record.symbols.count == members.count
    {
      (symbols, refused) = (record.symbols, record.refused)
      return
    }
    didCompile = true
    try compile(members, types, whole, compiler, folder)
    let record = Record(fingerprint: fingerprint, symbols: symbols, refused: refused)
    try JSONEncoder().encode(record).write(to: recordFile, options: .atomic)
  }

  private mutating func compile(
    _ members: [PlacedMember], _ types: ModuleTypes, _ whole: Skeleton, _ compiler: SwiftCompiler,
    _ folder: URL
  ) throws {
    var skeleton: Skeleton = whole
    var aliases: Set<String> = []
    // Each round leaves out what the compiler did not accept in the one before.
    while true {
      let build: URL = folder.appendingPathComponent("skeleton")
      try? FileManager.default.removeItem(at: build)
      let graphs: URL = build.appendingPathComponent("symbols")
      try FileManager.default.createDirectory(at: graphs, withIntermediateDirectories: true)
      var complaints: [SwiftCompiler.Complaint] = []
      for module in skeleton.modules where complaints.isEmpty {
        let sources: URL = build.appendingPathComponent(module)
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        let urls: [URL] = try skeleton.files.filter { $0.module == module }.map { file in
          let url: URL = sources.appendingPathComponent(file.name)
          try Data(file.text.utf8).write(to: url)
          return url
        }
        complaints = try compiler.emitModule(
          module, urls, in: build, symbols: module == skeleton.modules.last ? graphs : nil)
      }
      if complaints.isEmpty {
        let names: [String: [Int: String]] = try SymbolGraph.names(in: graphs)
        for (file, lines) in skeleton.memberAtLine {
          for (line, member) in lines {
            symbols[member] = names[file]?[line]
            if symbols[member] == nil { refused[member] = "the compiler has no name for it" }
          }
        }
        for index in members.indices where symbols[index] == nil && refused[index] == nil {
          refused[index] = "it is declared twice, under conditions that only the compiler decides"
        }
        return
      }
      var progressed: Bool = false
      for complaint in complaints {
        if let member = skeleton.memberAtLine[complaint.file]?[complaint.line] {
          if refused.updateValue(complaint.message, forKey: member) == nil { progressed = true }
        } else if let alias = skeleton.aliasAtLine[complaint.file]?[complaint.line] {
          if aliases.insert(alias).inserted { progressed = true }
        }
      }
      guard progressed else {
        let first: SwiftCompiler.Complaint = complaints[0]
        throw SourceFailure(
          path: first.file.isEmpty ? folder.path : build.appendingPathComponent(first.file).path,
          line: max(first.line, 1), column: 1,
          message: """
            The names of the accessors of @NSManaged members can't be found: \(first.message). Write the accessors \
            as computed properties with managedValue(_:), as Documentation/accessors.md shows.
            """)
      }
      skeleton = Skeleton(members, types, without: Set(refused.keys), aliases: aliases)
    }
  }
}
