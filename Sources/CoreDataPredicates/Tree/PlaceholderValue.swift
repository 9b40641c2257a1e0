/// An object that stands for another one and says what for, since messages would name its type otherwise.
package protocol PlaceholderValue: AnyObject {
  /// As `PredicateValue.kindName`: "an object of Person".
  var kindName: String { get }
  /// What stands for another value of the same kind.
  var sibling: PredicateValue { get }
}
