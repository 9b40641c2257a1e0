import Foundation

/// Types that can be archived with ``NSPredicate/archivedData()`` and the like: predicates, expressions and
/// sort descriptors.
///
/// ```swift
/// let data = try NSPredicate(format: "age > 30").archivedData()
/// let predicate = try NSPredicate(archivedData: data)
/// predicate.allowEvaluation()
/// ```
///
/// Apple's calls do the same, with the error thrown where Foundation on Linux stops the program:
///
/// ```swift
/// let data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
/// let predicate = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPredicate.self, from: data)
/// ```
///
/// The archives are those of Apple's systems, class names included. Blocks, comparators and objects that are
/// not `NSSecureCoding` can't be archived, and managed objects are not: use a `$variable` in their place.
public protocol PredicateArchiving: NSObjectProtocol {}

extension Foundation.NSPredicate: PredicateArchiving {}

extension NSExpression: PredicateArchiving {}

extension NSSortDescriptor: PredicateArchiving {}

extension PredicateArchiving {
  /// A keyed archive as `NSKeyedArchiver` writes it on Apple's systems.
  ///
  /// - Throws: ``PredicateError`` that names the part that can't be archived: a block, a comparator, an
  ///   object that is not `NSSecureCoding`.
  public func archivedData() throws -> Data {
    try PredicateArchive.data(of: self)
  }
}

extension PredicateParsing where Self: Foundation.NSPredicate {
  /// The predicate in a keyed archive. It can't be evaluated until `allowEvaluation()` is called.
  ///
  /// Constants may be of Foundation's value classes, of collections of these, and of the classes given.
  /// Instances of the latter are decoded by Foundation's unarchiver, which on Linux stops the program when it
  /// finds in them what their class doesn't expect.
  ///
  /// - Throws: ``PredicateError`` for data that is no such archive, however it was damaged or forged, and for
  ///   unknown functions and selectors. Cost: linear in the size of the data.
  public init(archivedData data: Data, allowedClasses: [AnyClass] = []) throws {
    self = try PredicateArchive.read(Self.self, from: data, allowed: allowedClasses)
  }
}

extension NSExpression {
  /// The expression in a keyed archive. It can't be evaluated until ``allowEvaluation()`` is called.
  ///
  /// - Throws: as `NSPredicate.init(archivedData:allowedClasses:)`.
  public convenience init(archivedData data: Data, allowedClasses: [AnyClass] = []) throws {
    let read: NSExpression = try PredicateArchive.read(NSExpression.self, from: data, allowed: allowedClasses)
    self.init(node: read.node, permission: read.permission)
  }
}

extension SortDescribing where Self: NSSortDescriptor {
  /// The sort descriptor in a keyed archive. Comparing objects by it fails until `allowEvaluation()` is
  /// called.
  ///
  /// - Throws: ``PredicateError`` for data that is no such archive, and for selectors other than those of
  ///   ``StringComparison``.
  public init(archivedData data: Data) throws {
    self = try PredicateArchive.read(Self.self, from: data)
  }
}

extension NSKeyedArchiver {
  /// Archives a predicate, an expression or a sort descriptor under Apple's class names, which Foundation
  /// can't do on Linux.
  ///
  /// - Throws: ``PredicateError`` that names the part that can't be archived.
  public static func archivedData<Root: PredicateArchiving>(
    withRootObject root: Root, requiringSecureCoding: Bool
  ) throws -> Data {
    try PredicateArchive.data(of: root)
  }

  /// Archives an array of predicates, expressions or sort descriptors.
  ///
  /// - Throws: ``PredicateError`` that names the part that can't be archived.
  public static func archivedData<Root: PredicateArchiving>(
    withRootObject roots: [Root], requiringSecureCoding: Bool
  ) throws -> Data {
    try PredicateArchive.data(of: roots)
  }
}

extension NSKeyedUnarchiver {
  /// The predicate, expression or sort descriptor in an archive, of Apple's systems or of Clarus. Evaluating
  /// it fails until `allowEvaluation()` is called.
  ///
  /// - Throws: ``PredicateError`` for data that is no such archive, however it was damaged or forged.
  public static func unarchivedObject<Root: PredicateArchiving>(
    ofClass type: Root.Type, from data: Data
  ) throws -> Root? {
    try PredicateArchive.read(type, from: data)
  }

  /// See ``unarchivedObject(ofClass:from:)``. For the classes that are also `NSCoding`, which Foundation's
  /// function would accept as well.
  public static func unarchivedObject<Root: PredicateArchiving & NSObject & NSCoding>(
    ofClass type: Root.Type, from data: Data
  ) throws -> Root? {
    try PredicateArchive.read(type, from: data)
  }

  /// The predicates, expressions or sort descriptors of an archived array.
  ///
  /// - Throws: ``PredicateError`` for data that is no such archive.
  public static func unarchivedArrayOfObjects<Root: PredicateArchiving>(
    ofClass type: Root.Type, from data: Data
  ) throws -> [Root]? {
    try PredicateArchive.readArray(of: type, from: data)
  }
}
