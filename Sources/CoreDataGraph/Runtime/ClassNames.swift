import CoreDataRuntime
import CoreDataStorage
import Foundation

/// The name of a managed class, for ``NSEntityDescription/managedObjectClassName``.
///
/// Foundation's function of this name accepts every class, and off Apple's platforms stops the program for
/// those that are nested in a type, private or local to a function. The compiler chooses this one for managed
/// classes. Entities find the class by the name it returns.
///
/// The name of a private or local class is valid for this process only.
///
/// See Apple's page
/// [NSStringFromClass(_:)](https://developer.apple.com/documentation/foundation/nsstringfromclass(_:)).
// swift-format-ignore: AlwaysUseLowerCamelCase
public func NSStringFromClass(_ aClass: NSManagedObject.Type) -> String { ClassNames.name(of: aClass) }

/// The names that ``NSStringFromClass(_:)`` has returned.
enum ClassNames {
  private static let given = Guarded<[String: NSManagedObject.Type]>([:])

  static func name(of type: NSManagedObject.Type) -> String {
    if type == NSManagedObject.self { return "NSManagedObject" }
    let name: String = TypeSearch.qualifiedName(of: type)
    return given.withLock { given in
      // Local classes of two functions may have the same name; the second one's keeps the address that
      // distinguishes them.
      let unique: String = given[name].map { $0 == type } ?? true ? name : String(reflecting: type)
      given[unique] = type
      return unique
    }
  }

  /// Whether a bare name is that of a managed class.
  static func isManaged(_ bareName: String) -> Bool {
    bareName == "NSManagedObject"
      || !TypeSearch.classes(named: bareName, subclassOf: NSManagedObject.self).isEmpty
  }

  static func type(named name: String) -> NSManagedObject.Type? { given.withLock { $0[name] } }
}
