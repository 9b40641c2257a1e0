/// What compiles and does something else here, or does not compile, and can't be rewritten.
extension PortingPass {
  // MARK: Requests

  private static let otherResults: Set<String> = [
    "dictionaryResultType", "managedObjectIDResultType", "countResultType",
  ]

  /// `let request = Item.fetchRequest()`, and later `request.resultType = .dictionaryResultType`: at the
  /// token `resultType`. The type of the request is that of the class here.
  mutating func untypedRequest(_ index: Int) {
    guard text(index - 1) == ".", isWord(index - 2), text(index - 3) != ".", text(index + 1) == "=" else {
      return
    }
    let value: Int = text(index + 2) == "." ? index + 3 : index + 4
    guard text(value - 1) == ".", Self.otherResults.contains(text(value)) else { return }
    let name: String = text(index - 2)
    var place: Int = index - 3
    while place >= 0 {
      if text(place) == name, ["let", "var"].contains(text(place - 1)) {
        // The nearest declaration of the name; one with a type says what is meant.
        guard text(place + 1) == "=", isWord(place + 2) else { return }
        var end: Int = place + 3
        while text(end) == ".", isWord(end + 1) { end += 2 }
        guard text(end - 1) == "fetchRequest", text(end) == "(", text(end + 1) == ")",
          !["as", "."].contains(text(end + 2))
        else { return }
        return note(.untypedRequest, at: range(place - 1, end + 2))
      }
      place -= 1
    }
  }

  // MARK: Classes

  /// `@objc func label(name:)` of a migration policy: an expression of a mapping model may call it by its
  /// selector. At the attribute.
  mutating func policyFunction(_ index: Int, after last: Int) {
    guard let type = innermostType(at: tokens[index].range.lowerBound), isFunctionOwner(type) else { return }
    var function: Int = last
    while Self.accessAndKind.contains(text(function)) || text(function) == "dynamic" { function += 1 }
    guard text(function) == "func", let body = type.body,
      !tokens.contains(where: {
        body.contains($0.range.lowerBound) && source[$0.range] == "expressionFunctions"
      })
    else { return }
    note(.policyFunction, at: range(function, function + 2))
  }

  private static let functionOwners: Set<String> = ["NSEntityMigrationPolicy", "NSMigrationManager"]

  /// Whether expressions of mapping models call methods of a type: of a policy, or of a manager.
  func isFunctionOwner(_ type: TypeDeclaration) -> Bool {
    var current: String = type.name.last ?? ""
    var seen: Set<String> = []
    while seen.insert(current).inserted {
      if Self.functionOwners.contains(current) { return type.kind == .extension || current != type.name.last }
      let found: TypeDeclaration? = types.found(current).first { $0.declaration.kind == .class }?.declaration
      current = String(found?.inherited.first?.text.split(separator: ".").last ?? "")
    }
    return false
  }

  private static let storeClasses: Set<String> = ["NSAtomicStore", "NSIncrementalStore", "NSPersistentStore"]

  /// A store with a designated initialiser of its own, and without the one through which coordinators make
  /// stores.
  mutating func storeInitializers(_ types: [TypeDeclaration]) {
    for type in types {
      storeInitializers(type.types)
      guard let body = type.body, inherits(type, fromOneOf: Self.storeClasses) else { continue }
      let own: [Int] = ownInitializers(of: type, body)
      let isDesignated: (Int) -> Bool = { index in
        var modifier: Int = index - 1
        while Self.accessAndKind.contains(self.text(modifier)) || self.text(modifier) == "override" {
          modifier -= 1
        }
        return self.text(modifier) != "convenience"
      }
      guard let first = own.first(where: isDesignated),
        !own.contains(where: { text($0 + 2) == "persistentStoreCoordinator" || text($0 + 2) == "_" })
      else { continue }
      note(.storeInitializer, at: range(first, first + 1))
    }
  }

  // MARK: Calls

  /// `NSManagedObject()`: classes that are made with what belongs to them. In a build it is left to the
  /// compiler: a program may have added such an initialiser.
  mutating func bareInitializer(_ index: Int) {
    guard style == .kept, text(index - 1) != "." || text(index - 2) == "CoreData", text(index - 1) != "func",
      text(index + 1) == "(", text(index + 2) == ")"
    else { return }
    note(.bareInitializer, at: range(index, index + 3))
  }

  /// `Bundle(for: Item.self)`, `Bundle(identifier: "…")`
  mutating func bundle(_ index: Int) {
    guard text(index + 1) == "(", ["for", "identifier"].contains(text(index + 2)), text(index + 3) == ":"
    else {
      return
    }
    note(
      .foundBundle, at: range(index, index + 3),
      text(index + 2) == "identifier"
        ? "Bundle(identifier:) is nil here, whatever the identifier: the resources of a package's target are in Bundle.module, the program's own in Bundle.main."
        : nil)
  }

  /// `#if canImport(os)` over a module of the program: true here too.
  static func conditions(on platform: Platform, _ all: [Token], _ source: SourceText) -> [Range<Int>] {
    all.indices.dropLast(3).compactMap { index in
      guard source[all[index].range] == "canImport", source[all[index + 1].range] == "(",
        source[all[index + 3].range] == ")"
      else { return nil }
      let module: String = source[all[index + 2].range]
      guard Platform.appleModules.contains(module), platform.modules.contains(module) else { return nil }
      return all[index].range.lowerBound..<all[index + 3].range.upperBound
    }
  }
}
