/// A type that lists the names of its properties, for predicates and sort descriptors written with key paths.
///
/// Off Apple's platforms a key path of a computed property, or of a property of a class that is not final,
/// has no name. Managed objects need nothing: a property that returns one managed value is named by
/// trying its getter once. A type conforms (and a managed class overrides the property it has by conforming
/// already) where that can't work:
///
/// ```swift
/// class Employee: NSObject, KeyPathNaming {
///   var name: String = ""
///   var salary: Int = 0
///   class var keyPathNames: [AnyKeyPath: String] { [\Employee.name: "name", \Employee.salary: "salary"] }
/// }
/// ```
///
/// Names may be dotted paths. `\Employee.name` and `\Manager.name` are different key paths, so a subclass
/// lists the inherited properties again: `super.keyPathNames.merging([\Manager.name: "name"]) { $1 }`.
public protocol KeyPathNaming {
  /// Names by key path. Read at the first use of each key path, from any thread; must always return the same.
  static var keyPathNames: [AnyKeyPath: String] { get }
}

/// A class whose key paths are named by applying them to an instance that records which name is read.
package protocol KeyPathRecording {
  /// The name that the getter of the key path reads.
  static func recordedName(of keyPath: AnyKeyPath) -> KeyPathName
}

/// The name of a key path.
package enum KeyPathName: Hashable, Sendable {
  case named(String)
  /// The reason why there is no name, as the end of a sentence.
  case unnamed(String)
}
