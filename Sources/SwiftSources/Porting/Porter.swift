/// Rewrites sources for Apple's platforms so that they compile where there is no Objective-C runtime, as far
/// as that is mechanical, and lists the rest.
///
/// Code that the compiler does not see here (`#if canImport(UIKit)`, comments, texts) is never changed. What
/// is rewritten once is not found again.
package struct Porter {
  package enum Style: Sendable {
    /// For files that are kept: what is removed leaves no gap, and members stay managed, since their
    /// accessors are generated.
    case kept
    /// For a build: every line stays where it is, and columns as far as possible. Managed members become
    /// computed properties, private ones too.
    case built
  }

  /// A file as it was and as it is to be.
  package struct Result: Sendable {
    package let source: SourceText
    package let text: String
    package let findings: [PortingFinding]
    /// The same with their places in `text`.
    package let findingsWhenWritten: [PortingFinding]
    /// How many lines of the file are changed or removed.
    package let changedLineCount: Int
  }

  private let style: Style
  private let platform: Platform
  private let files: [ScannedFile]
  private let types: ModuleTypes
  private let remarks: [SourceRemark]
  /// The names in the model of properties that have another one in Swift.
  private let modelNames: [String: String]
  private let typeNames: Set<String>
  /// Whether the module says which of the ambiguous names are meant.
  package let hasAliases: Bool

  /// - Parameters:
  ///   - sources: all sources of a module that are to be rewritten.
  ///   - beside: its other sources, whose types count.
  ///   - modules: other modules that it can import.
  /// - Throws: ``SourceFailure`` where a source has an end missing.
  package init(
    _ sources: [SourceText], beside: [SourceText] = [], modules: Set<String> = [], style: Style
  ) throws(SourceFailure) {
    self.style = style
    platform = Platform(modules: modules)
    var files: [ScannedFile] = []
    for source in sources { files.append(try DeclarationScanner.scan(source, on: platform)) }
    self.files = files
    var all: [ScannedFile] = files
    for source in beside { all.append(try DeclarationScanner.scan(source, on: platform)) }
    types = ModuleTypes([ModuleTypes.Module(name: "", files: all)])
    remarks = ModuleMembers(files, types).remarks
    var modelNames: [String: String] = [:]
    var typeNames: Set<String> = []
    var hasAliases: Bool = false
    func collect(_ declarations: [TypeDeclaration]) {
      for type in declarations {
        // An extension declares nothing: what it extends may be absent.
        if type.kind != .extension, let name = type.name.last { typeNames.insert(name) }
        if type.kind == .typealias, let name = type.name.first, Self.ambiguousNames.contains(name) {
          hasAliases = true
        }
        for member in type.members {
          guard case .property = member.form, let name = member.objectiveCName else { continue }
          modelNames[member.name] = name
        }
        collect(type.types)
      }
    }
    for file in all {
      collect(file.declarations)
      typeNames.formUnion(Self.ownConstants(in: file.source.text))
    }
    (self.modelNames, self.typeNames, self.hasAliases) = (modelNames, typeNames, hasAliases)
  }

  /// Foundation's types of these names have no use.
  static let emptyNames: Set<String> = ["NSExpression", "NSComparisonPredicate", "NSCompoundPredicate"]
  static let ambiguousNames: Set<String> = emptyNames.union(["PredicateError"])

  /// Constants that Apple's framework has and this one has not.
  private static let absentConstants: Set<String> = [
    "NSPersistentHistoryTokenKey", "NSPersistentStoreRemoteChange", "NSPersistentStoreURLKey",
    "NSPersistentStoreUbiquitousContentNameKey", "NSPersistentStoreUbiquitousContentURLKey",
    "NSPersistentStoreUbiquitousContainerIdentifierKey", "NSPersistentStoreUbiquitousPeerTokenOption",
    "NSPersistentStoreRemoveUbiquitousMetadataOption", "NSPersistentStoreRebuildFromUbiquitousContentOption",
    "NSPersistentStoreUbiquitousTransitionTypeKey", "NSPersistentStoreDidImportUbiquitousContentChanges",
  ]

  /// Those that a program declares itself, for want of them.
  private static func ownConstants(in text: String) -> Set<String> {
    absentConstants.filter { name in text.contains("let \(name)") || text.contains("var \(name)") }
  }

  /// What Apple's framework has and this one has not.
  static let absentTypes: Set<String> = absentConstants.union([
    "NSBatchInsertRequest", "NSBatchInsertResult", "NSBatchInsertRequestResultType", "NSBatchUpdateRequest",
    "NSBatchUpdateResult", "NSBatchUpdateRequestResultType", "NSBatchDeleteRequest", "NSBatchDeleteResult",
    "NSBatchDeleteRequestResultType", "NSPersistentHistoryChange", "NSPersistentHistoryChangeRequest",
    "NSPersistentHistoryResult", "NSPersistentHistoryToken", "NSPersistentHistoryTransaction",
    "NSPersistentCloudKitContainer", "NSPersistentCloudKitContainerOptions",
    "NSPersistentStoreUbiquitousTransitionType",
    "NSCoreDataCoreSpotlightDelegate",
  ])

  /// The file that a module with an ambiguous name needs once. The first three are public, since declarations
  /// of the module that are public mention them.
  package static let aliases: String = """
    // These names are in Foundation and in CoreData where there is no Objective-C runtime.
    #if !canImport(ObjectiveC)
      public import CoreData

      public typealias NSExpression = CoreDataPredicates.NSExpression
      public typealias NSComparisonPredicate = CoreDataPredicates.NSComparisonPredicate
      public typealias NSCompoundPredicate = CoreDataPredicates.NSCompoundPredicate
      typealias PredicateError = CoreDataPredicates.PredicateError
    #endif

    """

  package static let aliasFileName: String = "CoreDataNames.swift"

  /// The result for each source, in their order.
  package func results() throws(SourceFailure) -> [Result] {
    var results: [Result] = []
    let passes: [PortingPass] = try files.map { file throws(SourceFailure) in
      try PortingPass(
        file, types: types, style: style, platform: platform, modelNames: modelNames, typeNames: typeNames,
        hasAliases: hasAliases)
    }
    func declaring(_ name: String, _ keyword: String) -> Set<String> {
      passes.reduce(into: []) { $0.formUnion($1.classes(declaring: name, as: keyword)) }
    }
    // An override of an extension needs a method in the class, which may be in another file.
    let classes: Set<String> = Set(passes.flatMap(\.classes))
    let overrides: [String: [ExtensionOverride]] = Dictionary(
      grouping: passes.flatMap(\.extensionOverrides).filter { classes.contains($0.owner) }, by: \.owner)
    let checked: Set<String> = declaring("validateValue", "func")
    let checks: [String: [KeyCheck]] = Dictionary(
      grouping: passes.flatMap(\.keyChecks).filter {
        classes.contains($0.owner) && !checked.contains($0.owner)
      },
      by: \.owner)
    let namedChecks: Set<String> = passes.reduce(into: []) { $0.formUnion($1.checksInCalls) }
    let keys: Set<String> = passes.reduce(into: []) { $0.formUnion($1.keyWords) }
    let listing: (functions: Set<String>, accessors: Set<String>) = (
      declaring("expressionFunctions", "var"), declaring("customAccessors", "var")
    )
    let found: [ListedMember] = passes.flatMap { $0.listedMembers(keys: keys) }
    let inExtensions: Set<String> = passes.reduce(into: []) { $0.formUnion($1.listingExtensions) }
    let importing: Set<String> = Set(
      files.filter { $0.imports.contains { $0.module == "CoreData" } }.map(\.source.path))
    // A class that is not in the sources is one that the model's Codegen makes.
    let listings: [ListedMember] = found.filter { member in
      guard case .accessor = member.kind else { return false }
      return !classes.contains(member.owner) && !inExtensions.contains(member.owner)
        && types.found(member.owner).isEmpty && !member.owner.hasPrefix("NS")
        && AppleClasses.module(of: member.owner) == nil && importing.contains(member.path)
    }
    let listed: [ListedMember] = found.filter { member in
      guard classes.contains(member.owner) else { return false }
      return switch member.kind {
      case .function: !listing.functions.contains(member.owner)
      case .accessor: !listing.accessors.contains(member.owner)
      }
    }
    let module = PortedModule(
      overrides: overrides, checks: checks, namedChecks: namedChecks,
      listed: Dictionary(grouping: listed, by: \.owner),
      listings: Dictionary(grouping: listings, by: \.owner), keys: keys,
      knownAccessors: passes.reduce(into: []) { $0.formUnion($1.accessorsInLists) },
      defaulted: passes.flatMap(\.defaultedRequirements))
    for (file, var pass) in zip(files, passes) {
      pass.run(module)
      if style == .kept {
        for remark in remarks where remark.path == file.source.path { pass.add(remark) }
      } else {
        for offset in file.unreadMembers { pass.add(ModuleMembers.remark(onUnread: offset, file)) }
      }
      results.append(pass.result())
    }
    return results
  }
}

/// What the files of a module say about each other.
struct PortedModule {
  /// Overrides of extensions, by the class of this module that they belong to.
  var overrides: [String: [ExtensionOverride]]
  var checks: [String: [KeyCheck]]
  var namedChecks: Set<String>
  var listed: [String: [ListedMember]]
  var listings: [String: [ListedMember]]
  var keys: Set<String>
  var knownAccessors: Set<String>
  var defaulted: [DefaultedRequirement]
}
