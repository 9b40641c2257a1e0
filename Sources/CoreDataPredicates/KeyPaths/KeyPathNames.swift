import Foundation

/// The names of properties by key path, looked up once for each.
package enum KeyPathNames {
  private static let cache: Cache = .init()

  private final class Cache: @unchecked Sendable {
    // `lock` guards `names`. It is not held while a name is determined, because that runs getters of the
    // program.
    let lock: NSLock = .init()
    var names: [AnyKeyPath: KeyPathName] = [:]
  }

  /// The name as key-value coding writes it (`boss.name`); nil if there is none.
  ///
  /// Cost: a lock and a look-up in a dictionary; the first time, the getter of a managed property is run a
  /// few times.
  package static func name(of keyPath: AnyKeyPath) -> String? {
    if case .named(let name) = lookUp(keyPath) { name } else { nil }
  }

  /// The name as key-value coding writes it.
  ///
  /// - Throws: ``PredicateError`` that says why there is none, and how to give one.
  package static func requireName(of keyPath: AnyKeyPath) throws -> String {
    switch lookUp(keyPath) {
    case .named(let name): return name
    case .unnamed(let reason):
      let root: Any.Type = type(of: keyPath).rootType
      throw PredicateError.unsupported(
        "The key path \(describe(keyPath)) has no name: \(reason). Use a property that hands one managed or stored value "
          + "through, or give the key path a name in \(root).keyPathNames (see KeyPathNaming).")
    }
  }

  /// The key path for messages: `\Item.<computed property of type String>`, stored properties by name.
  package static func describe(_ keyPath: AnyKeyPath) -> String {
    let type: AnyKeyPath.Type = Swift.type(of: keyPath)
    return "\\\(type.rootType)."
      + (storedName(of: keyPath, type.rootType) ?? "<computed property of type \(type.valueType)>")
  }

  private static func lookUp(_ keyPath: AnyKeyPath) -> KeyPathName {
    if let known = cache.lock.withLock({ cache.names[keyPath] }) { return known }
    let name: KeyPathName = find(keyPath)
    cache.lock.withLock { cache.names[keyPath] = name }
    return name
  }

  private static func find(_ keyPath: AnyKeyPath) -> KeyPathName {
    let root: Any.Type = type(of: keyPath).rootType
    if let naming = root as? any KeyPathNaming.Type, let name = naming.keyPathNames[keyPath] {
      return .named(name)
    }
    if let name = storedName(of: keyPath, root) { return .named(name) }
    if keyPath.debugDescription == "\\\(root).self" { return .named("self") }
    if let recording = root as? any KeyPathRecording.Type { return recording.recordedName(of: keyPath) }
    return .unnamed(
      "the names of computed properties, and of those of classes that are not final, are not known")
  }

  /// The name that reflection has for stored properties of structures and final classes.
  private static func storedName(of keyPath: AnyKeyPath, _ root: Any.Type) -> String? {
    // "\Type.a?.b"; computed properties read "<computed 0x… (Type)>".
    let text: String = keyPath.debugDescription
    let start: String = "\\\(root)."
    guard text.hasPrefix(start), !text.dropFirst(start.count).contains("<") else { return nil }
    let path: String = String(text.dropFirst(start.count).filter { $0 != "?" && $0 != "!" })
    return path.isEmpty || path == "self" ? nil : path
  }
}
