/// An object that represents another one in checks and provides its kind, because messages would otherwise
/// name its type.
package protocol PlaceholderValue: AnyObject {
  /// As `PredicateValue.kindName`: "an object of Person".
  var kindName: String { get }
  /// A placeholder for another value of the same kind.
  var sibling: PredicateValue { get }
}
