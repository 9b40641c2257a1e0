/// An object of the framework that `FUNCTION(object, 'selector:', …)` can call.
package protocol MessageReceiver: AnyObject {
  /// The value of a call; nil if the object does not respond to the selector.
  func receive(_ selector: String, _ arguments: [Any?]) throws -> MessageAnswer?

  /// How a program lets the object respond to another selector, a sentence.
  var adviceForMissingSelectors: String { get }
}

/// The value that a call returned, which may be nil.
package struct MessageAnswer {
  package let value: Any?

  package init(_ value: Any?) { self.value = value }
}
