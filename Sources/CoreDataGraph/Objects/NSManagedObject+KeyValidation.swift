import Foundation

#if !canImport(ObjectiveC)
  /// A place that holds a value while a method validates it, as on Apple's platforms.
  ///
  /// Methods such as `validateTitle(_:)` that were written for Apple's framework take one. It is valid during
  /// the call that it is passed to.
  public struct AutoreleasingUnsafeMutablePointer<Pointee> {
    private let place: UnsafeMutablePointer<Pointee>

    init(_ place: UnsafeMutablePointer<Pointee>) { self.place = place }

    /// The value. Setting it replaces the value that is validated.
    public var pointee: Pointee {
      get { place.pointee }
      nonmutating set { place.pointee = newValue }
    }
  }

  extension NSManagedObject {
    /// Calls a method that checks one property as `validate<Key>:error:` does on Apple's platforms.
    ///
    /// Nothing finds such a method by its name here, so that the class calls it. `clarus port` and
    /// `CoreDataSourcesPlugin` write the override:
    ///
    /// ```swift
    /// override func validateValue(_ value: inout Any?, forKey key: String) throws {
    ///   try super.validateValue(&value, forKey: key)
    ///   if key == "title" { try validateManagedValue(&value, by: validateTitle) }
    /// }
    ///
    /// func validateTitle(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    ///   guard let title = value.pointee as? String, !title.isEmpty else { throw TitleError.isEmpty }
    ///   value.pointee = title.capitalized as NSString
    /// }
    /// ```
    ///
    /// A value that the method sets replaces the value. Throws what the method throws. Queue: the context's.
    /// Cost: the value becomes an object.
    public final func validateManagedValue(
      _ value: inout Any?, by check: (AutoreleasingUnsafeMutablePointer<AnyObject?>) throws -> Void
    ) rethrows {
      let given: AnyObject? = value.map { $0 as AnyObject }
      var object: AnyObject? = given
      try withUnsafeMutablePointer(to: &object) { try check(AutoreleasingUnsafeMutablePointer($0)) }
      if object !== given { value = object }
    }
  }
#endif
