/// A class that lists accessors in an extension, where ``NSManagedObject/customAccessors`` can't be
/// overridden: one that the model's Codegen makes.
///
/// ```swift
/// extension Book {
///   var initial: String { String(title?.prefix(1) ?? "") }
/// }
///
/// extension Book: AccessorListing {
///   public static var listedAccessors: [String: AnyKeyPath] { ["initial": \Book.initial] }
/// }
/// ```
///
/// Sub-entities inherit the list. What ``NSManagedObject/customAccessors`` lists for the same key counts
/// before it. Queue and cost are those of ``NSManagedObject/customAccessors``.
public protocol AccessorListing: NSManagedObject {
  /// Key paths of properties by the keys that key-value coding finds them by.
  static var listedAccessors: [String: AnyKeyPath] { get }
}
