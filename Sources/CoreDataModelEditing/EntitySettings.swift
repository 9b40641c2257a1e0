import CoreDataModel

/// What is to be other about an entity. What is not named here stays as it is.
package struct EntitySettings: Sendable {
  package typealias Change = PropertySettings.Change

  /// A new name.
  package var name: String?
  package var isAbstract: Bool?
  package var parent: Change = .asItIs
  /// The class, without a module.
  package var className: String?
  /// The module of the class; that of the program as "current".
  package var module: Change = .asItIs
  /// The name that it had in earlier versions.
  package var renamingIdentifier: Change = .asItIs
  package var hashModifier: Change = .asItIs
  /// Codegen: class or category.
  package var codeGeneration: Change = .asItIs

  package init() {}

  /// Whether everything is to stay.
  package var isEmpty: Bool {
    name == nil && isAbstract == nil && className == nil
      && [parent, module, renamingIdentifier, hashModifier, codeGeneration].allSatisfy { $0 == .asItIs }
  }

  /// The module that stands for the one that the class is compiled in.
  private static let currentModule: String = "current"

  /// Changes all but the name.
  func apply(to element: inout SourceElement) {
    if let isAbstract { element.set("isAbstract", isAbstract ? "YES" : nil) }
    parent.apply("parentEntity", to: &element)
    renamingIdentifier.apply("elementID", to: &element)
    hashModifier.apply("versionHashModifier", to: &element)
    codeGeneration.apply("codeGenerationType", to: &element)
    if className != nil || module != .asItIs {
      setClass(className ?? Self.simpleClass(element) ?? element["name"] ?? "", of: &element)
    }
  }

  /// Gives the element a class in the module that it is to have.
  func setClass(_ name: String, of element: inout SourceElement) {
    let prefix: String =
      switch module {
      // A name with a period names the module too: `.Item`, `Shop.Item`.
      case .asItIs where name.contains("."): ""
      case .asItIs:
        String((element["representedClassName"] ?? "").dropLast((Self.simpleClass(element) ?? "").count))
      case .removed: ""
      case .given(let module): module == Self.currentModule ? "." : "\(module)."
      }
    element.set("representedClassName", prefix + name)
  }

  /// `Item` of `Item`, `.Item` and `Shop.Item`; nil without a class.
  static func simpleClass(_ element: SourceElement) -> String? {
    element["representedClassName"]?.split(separator: ".").last.map(String.init)
  }
}

extension Draft {
  /// Types that Core Data's interface has. A class of such a name hides them in the program's module, and
  /// what the program writes about them does not compile.
  private static let frameworkTypes: Set<String> = [
    "NSAtomicStore", "NSAtomicStoreCacheNode", "NSAttributeDescription", "NSAttributeType",
    "NSBatchDeleteRequest", "NSBatchDeleteResult", "NSBatchInsertRequest", "NSBatchInsertResult",
    "NSBatchUpdateRequest", "NSBatchUpdateResult", "NSCompositeAttributeDescription", "NSConstraintConflict",
    "NSDeleteRule", "NSDerivedAttributeDescription", "NSEntityDescription", "NSEntityMapping",
    "NSEntityMigrationPolicy", "NSExpression", "NSExpressionDescription", "NSFetchIndexDescription",
    "NSFetchIndexElementDescription", "NSFetchRequest", "NSFetchRequestExpression",
    "NSFetchRequestResult", "NSFetchedPropertyDescription", "NSFetchedResultsController",
    "NSFetchedResultsControllerDelegate", "NSIncrementalStore", "NSIncrementalStoreNode", "NSManagedObject",
    "NSManagedObjectContext", "NSManagedObjectID", "NSManagedObjectModel", "NSMappingModel",
    "NSMergeConflict", "NSMergePolicy", "NSMigrationManager", "NSPersistentContainer",
    "NSPersistentHistoryChange", "NSPersistentHistoryChangeRequest", "NSPersistentHistoryToken",
    "NSPersistentHistoryTransaction", "NSPersistentStore", "NSPersistentStoreAsynchronousResult",
    "NSPersistentStoreCoordinator", "NSPersistentStoreDescription", "NSPersistentStoreRequest",
    "NSPersistentStoreResult", "NSPredicate", "NSPropertyDescription", "NSPropertyMapping",
    "NSQueryGenerationToken", "NSRelationshipDescription", "NSSaveChangesRequest", "NSSortDescriptor",
    "NSStagedMigrationManager",
  ]

  /// - Parameter className: the entity's name if nil. `NSManagedObject` is no class of the program, but says
  ///   that the entity has none; so it is refused only where nobody wrote it as a class.
  func requireFreeClass(_ className: String?, ofEntity entity: String) throws {
    let name: String = (className ?? entity).split(separator: ".").last.map(String.init) ?? ""
    guard Self.frameworkTypes.contains(name), name != "NSManagedObject" || entity == name else { return }
    throw failure(
      "\(entity) would have the class '\(name)', which is the name of a type of Core Data and hides it in the "
        + "program. Choose another name"
        + (entity == name ? " for the entity." : " with --class."))
  }
}
