import Foundation

/// The object that represents a value in a C argument list. Formatting reads it as the value's description;
/// ``VariableArguments`` returns the original value.
///
/// A string, because Foundation's formatting on Linux can describe strings only: any other object makes `%@`
/// crash.
final class ArgumentObject: NSString {
  let value: Any
  // An argument list is read by the thread that created it.
  private lazy var text: NSString = NSString(string: String(describing: value))

  init(_ value: Any) {
    self.value = value
    super.init(stringLiteral: "")
  }

  override var length: Int { text.length }
  override func character(at index: Int) -> unichar { text.character(at: index) }

  // MARK: What every string has to have

  required init(stringLiteral value: StaticString) {
    self.value = "\(value)"
    super.init(stringLiteral: "")
  }

  required convenience init(unicodeScalarLiteral value: StaticString) { self.init(stringLiteral: value) }
  required convenience init(extendedGraphemeClusterLiteral value: StaticString) {
    self.init(stringLiteral: value)
  }
  required convenience init(string: String) { self.init(string) }
  required convenience init?(coder: NSCoder) {
    guard let text = NSString(coder: coder) else { return nil }
    self.init(text)
  }
}
