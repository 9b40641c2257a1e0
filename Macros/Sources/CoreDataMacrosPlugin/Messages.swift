import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// What is wrong with a use of a macro, and what to write.
struct Message: DiagnosticMessage {
  let message: String
  let diagnosticID: MessageID
  let severity: DiagnosticSeverity

  private init(_ id: String, _ message: String, _ severity: DiagnosticSeverity = .error) {
    self.message = message
    self.severity = severity
    diagnosticID = MessageID(domain: "CoreDataMacros", id: id)
  }

  static let noVariable = Message(
    "noVariable", "@Managed belongs on a property: @Managed var title: String?")
  static let constant = Message("constant", "A managed property can change: write 'var' instead of 'let'.")
  static let severalNames = Message(
    "severalNames", "@Managed declares one property: write each in a line of its own.")
  static let noType = Message("noType", "A managed property needs its type: @Managed var title: String?")
  static let initialValue = Message(
    "initialValue",
    "A managed property has no initial value of its own: write @Managed(default: …), which goes into the model."
  )
  static let accessors = Message(
    "accessors", "@Managed makes the accessors of the property: remove them, or remove @Managed.")
  static let typeProperty = Message(
    "typeProperty", "A managed property belongs to an object: remove 'static' or 'class'.")
  static let noClass = Message(
    "noClass", "@ManagedObject belongs on a class: @ManagedObject final class Item: NSManagedObject")
  static let noSuperclass = Message(
    "noSuperclass",
    "A class with @ManagedObject derives from NSManagedObject, or from another class with @ManagedObject.")
  static let generic = Message("generic", "An entity's class has no type parameters.")
  static let inverse = Message(
    "inverse",
    #"The inverse is a key path with its class and one name, or the name as text: inverse: \Tag.items"#)
  static let name = Message(
    "name", #"The name in the model is a text without interpolation: name: "description""#)
  static func repeated(_ name: String) -> Message {
    Message("repeated", "The property '\(name)' is declared twice in this class.")
  }
}

extension MacroExpansionContext {
  func report(_ message: Message, at node: some SyntaxProtocol) {
    diagnose(Diagnostic(node: Syntax(node), message: message))
  }
}
