// Imports: of Apple's modules, and those that are missing here.
extension PortingPass {
  mutating func importedModule(_ index: Int) -> Int {
    guard isWord(index + 1), tokens[index].startsLine || text(index - 2) == "@" || isWord(index - 1) else {
      return index + 1
    }
    let isScoped: Bool =
      ["class", "struct", "enum", "protocol", "func", "var", "let", "typealias"].contains(text(index + 1))
    let module: String = text(isScoped ? index + 2 : index + 1)
    var last: Int = index + (isScoped ? 3 : 2)
    while text(last) == ".", isWord(last + 1) { last += 2 }
    // A module of the program can have the name of Apple's.
    guard platform.canImport(module) == false, module != "CoreFoundation" else {
      submodule(index, last)
      return last
    }
    let isPlain: Bool =
      !isScoped && tokens[index].startsLine && (tokens.count == last || tokens[last].startsLine)
    guard isPlain else {
      note(.appleModuleMember, at: range(index, last))
      return last
    }
    note(.appleModule, at: range(index, last))
    // These modules import Foundation.
    if style == .built {
      edit(range(index, last), "import Foundation")
    } else {
      let line: Int = source.position(of: tokens[index].range.lowerBound).line
      let indent: Substring = source.line(at: line).prefix { $0.isWhitespace }
      // The whole module, also for a part such as `os.log`: a module that is written in Swift has none.
      edit(
        range(index, last),
        [
          "#if canImport(\(module))", "  import \(module)", "#else", "  import Foundation", "#endif",
        ].joined(separator: "\n\(indent)"))
    }
    return last
  }

  /// `import CoreData.CoreDataDefines`, `import os.log` over a module `os` of the program: parts are those of
  /// C's modules, and a module written in Swift has none.
  private mutating func submodule(_ index: Int, _ last: Int) {
    let module: String = text(index + 1)
    guard last > index + 2, module == "CoreData" || Platform.appleModules.contains(module) else { return }
    note(.appleSubmodule, at: range(index, last))
    edit(range(index + 2, last), "")
  }

  /// Adds the import of CoreData where Foundation has on Apple's platforms what is in CoreData here, and that
  /// of Foundation where another module brings it along there.
  mutating func importModules() {
    let imported: Set<String> = Set(file.imports.map(\.module))
    for (module, names) in Self.partsOfFoundation where !imported.contains(module) {
      guard let first = importedFirst(),
        let use = tokens.indices.first(where: {
          names.contains(text($0)) && text($0 - 1) != "." && !typeNames.contains(text($0))
        })
      else { continue }
      add(module, after: first, for: use, isConditional: true)
    }
    guard !imported.contains("CoreData"), let first = importedFirst() else { return }
    if let use = tokens.indices.first(where: { needsCoreData($0) }) {
      add("CoreData", after: first, for: use)
    } else if imported.isDisjoint(with: Self.exportingFoundation),
      !tokens.indices.contains(where: { text($0) == "import" && platform.canImport(text($0 + 1)) == false }
      ),
      let use = tokens.indices.first(where: { Self.foundation.contains(text($0)) && text($0 - 1) != "." }),
      !typeNames.contains(text(use))
    {
      add("Foundation", after: first, for: use)
    }
  }

  /// The first import that is a line of its own.
  private func importedFirst() -> Int? {
    tokens.indices.first {
      text($0) == "import" && tokens[$0].startsLine && isWord($0 + 1)
        && ($0 + 2 == tokens.count || tokens[$0 + 2].startsLine)
    }
  }

  /// `isConditional`: for a module that Apple's platforms lack.
  private mutating func add(
    _ module: String, after index: Int, for use: Int, isConditional: Bool = false
  ) {
    note(.missingImport, at: tokens[use].range)
    let place: Int = tokens[index + 1].range.upperBound
    let kept: String =
      isConditional
      ? "\n#if canImport(\(module))\n  import \(module)\n#endif" : "\nimport \(module)"
    edit(place..<place, style == .built ? "; import \(module)" : kept)
  }

  private func needsCoreData(_ index: Int) -> Bool {
    guard isWord(index), text(index - 1) != "." || text(index - 2) == "Foundation" else { return false }
    let name: String = text(index)
    if Self.fromFoundation.contains(name) { return !typeNames.contains(name) }
    if name.hasPrefix("NS"), Self.classes.contains(where: { name.hasPrefix($0) }),
      AppleClasses.module(of: name) == nil
    {
      return !typeNames.contains(name)
    }
    // Foundation's are empty.
    if Porter.emptyNames.contains(name) { return true }
    let arguments: [String: Set<String>] = [
      "NSPredicate": ["format"], "NSSortDescriptor": ["key"],
      "NSExpression": ["format", "forKeyPath", "forFunction"],
    ]
    return text(index + 1) == "(" && arguments[name]?.contains(text(index + 2)) == true
  }

  static let exportingFoundation: Set<String> = [
    "Foundation", "XCTest", "FoundationXML", "FoundationNetworking",
  ]

  private static let fromFoundation: Set<String> = [
    "ValueTransformer", "NSValueTransformerName", "UndoManager", "NSSecureUnarchiveFromDataTransformer",
    "NSUnarchiveFromDataTransformerName",
  ]

  /// What the names of CoreData's classes begin with, which other imports bring along on Apple's platforms.
  private static let classes: [String] = [
    "NSManagedObject", "NSPersistentStore", "NSPersistentContainer", "NSFetchRequest", "NSFetchedResults",
    "NSEntityDescription", "NSAttributeDescription", "NSRelationshipDescription", "NSPropertyDescription",
    "NSMergePolicy", "NSMigrationManager", "NSMappingModel", "NSEntityMigrationPolicy", "NSAsynchronousFetch",
  ]

  /// Names that are not likely to be those of a program.
  private static let foundation: Set<String> = [
    "Bundle", "Date", "Data", "URL", "UUID", "Decimal", "Notification", "NotificationCenter", "NSNumber",
    "NSObject", "NSPredicate", "NSSet", "NSOrderedSet", "NSSortDescriptor", "NSString", "FileManager",
    "IndexSet",
    "NSDecimalNumber", "NSError", "TimeInterval", "DateFormatter",
  ]

  /// What Foundation has on Apple's platforms and modules of their own have here.
  private static let partsOfFoundation: [(module: String, names: Set<String>)] = [
    (
      "FoundationNetworking",
      [
        "URLSession", "URLRequest", "HTTPURLResponse", "URLResponse", "URLSessionConfiguration",
        "URLSessionTask", "URLSessionDataTask", "URLSessionDownloadTask", "URLSessionDelegate", "URLProtocol",
        "URLCache", "URLCredential", "HTTPCookie", "HTTPCookieStorage", "NSMutableURLRequest",
      ]
    ), ("FoundationXML", ["XMLParser", "XMLParserDelegate", "XMLDocument", "XMLElement", "XMLNode"]),
  ]
}
