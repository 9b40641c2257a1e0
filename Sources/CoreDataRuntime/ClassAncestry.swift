/// The inheritance of classes that are known at run time only.
package enum ClassAncestry {
  /// Whether objects of a type are objects of a class, that is whether the type is the class or a subclass.
  package static func isClass(_ type: Any.Type, below wanted: Any.Type) -> Bool {
    guard wanted is AnyClass else { return false }
    var candidate: AnyClass? = type as? AnyClass
    while let current = candidate {
      if current == wanted { return true }
      candidate = _getSuperclass(current)
    }
    return false
  }
}
