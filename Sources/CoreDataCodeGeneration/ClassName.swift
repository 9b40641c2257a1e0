import CoreDataModel

/// The class of an entity, as the model names it.
///
///     Item, .Item         a class of the program's module
///     Shop.Item           the same if the module is Shop; a class of Shop if that is another module of the
///                         program; else a class nested in the type Shop
struct ClassName: Hashable {
  /// Another module, which has to be imported.
  var module: String?
  /// The types that the class is nested in, outermost first, and its own name.
  var path: [String]

  var name: String { path.last ?? "" }

  /// The text of a reference to it.
  var reference: String {
    ((module.map { [$0] } ?? []) + path.map(SwiftNames.declared)).joined(separator: ".")
  }

  /// Its name as a part of other names: `Shop.Item` → `Shop_Item`.
  var flat: String { path.joined(separator: "_") }

  /// The file names begin with it.
  var fileName: String { path.joined(separator: ".") }

  /// The module that the model writes before the name, of the program or of another one.
  static func writtenModule(of entity: NSEntityDescription) -> String? {
    let parts: [Substring] = (entity.managedObjectClassName ?? "").split(
      separator: ".", omittingEmptySubsequences: false)
    return parts.count > 1 && !parts[0].isEmpty ? String(parts[0]) : nil
  }

  /// The class of an entity; nil where it is `NSManagedObject`.
  init?(of entity: NSEntityDescription, _ options: CodeGenerationOptions) {
    guard let text = entity.managedObjectClassName, text != "NSManagedObject" else { return nil }
    var parts: [String] = text.split(separator: ".", omittingEmptySubsequences: true).map(String.init)
    guard !parts.isEmpty else { return nil }
    if parts.count > 1 {
      if parts[0] == options.module || (options.module == nil && !options.otherModules.contains(parts[0])) {
        parts.removeFirst()
      } else if options.otherModules.contains(parts[0]) {
        module = parts.removeFirst()
      }
    }
    path = parts
  }

  var isWellFormed: Bool { path.allSatisfy(SwiftNames.isIdentifier) }
}
