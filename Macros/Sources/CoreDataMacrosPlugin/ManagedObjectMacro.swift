import SwiftSyntax
import SwiftSyntaxMacros

/// `@ManagedObject final class Item: NSManagedObject`: the class's entity, and its fetch request.
enum ManagedObjectMacro: MemberMacro, ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let entity = Entity(declaration, context) else { return [] }
    let access: String = entity.access
    var parts: [String] = ["\"\(entity.name)\"", "Self.self"]
    if let parent = entity.parent { parts.append("parent: \(parent).self") }
    let arguments: [LabeledExprSyntax] =
      node.arguments?.as(LabeledExprListSyntax.self).map { Array($0) } ?? []
    if let given = arguments.first, given.label == nil { parts[0] = "\(given.expression.trimmed)" }
    parts += arguments.filter { $0.label != nil }.map { "\($0.label!.text): \($0.expression.trimmed)" }
    let properties: [String] = Self.properties(of: declaration, context).map { "    \($0.declaration)," }
    let list: String = properties.isEmpty ? "[]" : "[\n\(properties.joined(separator: "\n"))\n  ]"
    var members: [DeclSyntax] = [
      """
      \(raw: access)\(raw: entity.parent == nil ? "" : "override ")nonisolated class var entityDeclaration: EntityDeclaration {
        EntityDeclaration(\(raw: parts.joined(separator: ", ")), \(raw: list))
      }
      """
    ]
    if !entity.declaresFetchRequest {
      members.append(
        """
        \(raw: access)nonisolated class func fetchRequest() -> NSFetchRequest<\(raw: entity.className)> {
          NSFetchRequest<\(raw: entity.className)>(entityName: entityDeclaration.name)
        }
        """)
    }
    return members
  }

  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    // A subclass has the conformance of its superclass.
    guard let entity = Entity(declaration, nil), entity.parent == nil else { return [] }
    return [try ExtensionDeclSyntax("extension \(type.trimmed): DeclaredEntity {}")]
  }

  private static func properties(
    of declaration: some DeclGroupSyntax, _ context: some MacroExpansionContext
  ) -> [ManagedProperty] {
    var names: Set<String> = []
    return declaration.memberBlock.members.compactMap { member in
      guard let variable = member.decl.as(VariableDeclSyntax.self) else { return nil }
      let attributes: [AttributeSyntax] = variable.attributes.compactMap { $0.as(AttributeSyntax.self) }
      guard
        let managed = attributes.first(where: {
          ($0.attributeName.as(IdentifierTypeSyntax.self)?.name.text
            ?? $0.attributeName.as(MemberTypeSyntax.self)?.name.text) == "Managed"
        }),
        let property = ManagedProperty(variable, managed, nil)
      else { return nil }
      if !names.insert(property.name).inserted { context.report(.repeated(property.name), at: variable) }
      return property
    }
  }
}

/// A class with `@ManagedObject`, as it is written.
private struct Entity {
  let className: String
  /// Without `NSManagedObject`: nil.
  let parent: String?
  /// Of the members that are added: `public `, or nothing.
  let access: String
  let declaresFetchRequest: Bool

  var name: String { className }

  init?(_ declaration: some DeclGroupSyntax, _ context: (any MacroExpansionContext)?) {
    guard let type = declaration.as(ClassDeclSyntax.self) else {
      context?.report(.noClass, at: declaration)
      return nil
    }
    if let parameters = type.genericParameterClause {
      context?.report(.generic, at: parameters)
      return nil
    }
    guard let first = type.inheritanceClause?.inheritedTypes.first?.type.trimmed else {
      context?.report(.noSuperclass, at: type.name)
      return nil
    }
    className = type.name.text.filter { $0 != "`" }
    let text: String = "\(first)"
    parent = ["NSManagedObject", "CoreData.NSManagedObject"].contains(text) ? nil : text
    let modifiers: [TokenKind] = type.modifiers.map(\.name.tokenKind)
    access =
      modifiers.contains(.keyword(.public)) || modifiers.contains(.keyword(.open))
      ? "public " : modifiers.contains(.keyword(.package)) ? "package " : ""
    declaresFetchRequest = type.memberBlock.members.contains { member in
      member.decl.as(FunctionDeclSyntax.self)?.name.text == "fetchRequest"
    }
  }
}
