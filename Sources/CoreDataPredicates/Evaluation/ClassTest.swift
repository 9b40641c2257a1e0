/// The question for an object's class, `object isKindOfClass: Class`: what casts of Swift predicates become.
package enum ClassTest {
  package static let selector: String = "isKindOfClass:"

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

/// What stands for a class where its objects are rows: in the plans that engines get.
package protocol ObjectFamily: Sendable {
  func contains(_ object: Any) -> Bool
}
