import SwiftSyntax
import SwiftSyntaxMacros

/// `@Managed var title: String?`: the accessors of a property of the model, and the constant with its key.
enum ManagedMacro: AccessorMacro, PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    guard let property = ManagedProperty(declaration, node, context) else { return [] }
    return [
      "get { \(raw: property.getter)(Self.\(raw: property.key)) }",
      "set { \(raw: property.setter)(newValue, Self.\(raw: property.key)) }",
    ]
  }

  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    // The other expansion reports what is wrong.
    guard let property = ManagedProperty(declaration, node, nil) else { return [] }
    return [
      "private nonisolated static let \(raw: property.key) = ManagedKey(\(literal: property.name))"
    ]
  }
}
