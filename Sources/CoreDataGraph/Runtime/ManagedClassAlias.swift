/// Another name of a class, which models may give it: on Apple's platforms `@objc(CDBookmark)`.
///
/// ```swift
/// class Bookmark: NSManagedObject {
///   final class CDBookmark: ManagedClassAlias {
///     override class var original: NSManagedObject.Type { Bookmark.self }
///   }
/// }
/// ```
///
/// The objects of an entity whose class is `CDBookmark` in the model are of the class `Bookmark` then, unless
/// a class has the name itself. Nothing ever makes an object of the alias. See
/// [NSManagedObjectClassName](https://developer.apple.com/documentation/coredata/nsentitydescription/managedobjectclassname)
/// of Apple's framework.
nonisolated open class ManagedClassAlias {
  /// The class that has the name.
  open class var original: NSManagedObject.Type { NSManagedObject.self }
}
