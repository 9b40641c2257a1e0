import SwiftSyntax
import SwiftSyntaxMacros

/// A property with `@Managed`, as it is written.
struct ManagedProperty {
  /// The name in the class.
  let member: String
  /// The name in the model.
  let name: String
  let type: TypeSyntax
  /// The arguments of `@Managed` but the inverse and the name, as they are written.
  let arguments: [LabeledExprSyntax]
  let inverse: String?

  /// nil for a declaration that can't be a managed property, with what is wrong reported to the context if
  /// one is given.
  init?(
    _ declaration: some DeclSyntaxProtocol, _ attribute: AttributeSyntax,
    _ context: (any MacroExpansionContext)?
  ) {
    guard let variable = declaration.as(VariableDeclSyntax.self) else {
      context?.report(.noVariable, at: declaration)
      return nil
    }
    if variable.bindingSpecifier.tokenKind != .keyword(.var) {
      context?.report(.constant, at: variable.bindingSpecifier)
      return nil
    }
    let isOfType: Set<TokenKind> = [.keyword(.static), .keyword(.class)]
    if let modifier = variable.modifiers.first(where: { isOfType.contains($0.name.tokenKind) }) {
      context?.report(.typeProperty, at: modifier)
      return nil
    }
    guard variable.bindings.count == 1, let binding = variable.bindings.first,
      let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
    else {
      context?.report(.severalNames, at: variable)
      return nil
    }
    if let initializer = binding.initializer {
      context?.report(.initialValue, at: initializer)
      return nil
    }
    if let accessors = binding.accessorBlock {
      context?.report(.accessors, at: accessors)
      return nil
    }
    guard let type = binding.typeAnnotation?.type else {
      context?.report(.noType, at: binding)
      return nil
    }
    member = pattern.identifier.text.filter { $0 != "`" }
    self.type = type.trimmed
    let list: [LabeledExprSyntax] =
      attribute.arguments?.as(LabeledExprListSyntax.self).map { Array($0) } ?? []
    arguments = list.filter { !["inverse", "name"].contains($0.label?.text) }
    if let given = list.first(where: { $0.label?.text == "name" }) {
      guard let text = given.expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue,
        !text.isEmpty
      else {
        context?.report(.name, at: given.expression)
        return nil
      }
      name = text
    } else {
      name = member
    }
    if let given = list.first(where: { $0.label?.text == "inverse" }) {
      guard let found = Self.inverse(given.expression) else {
        context?.report(.inverse, at: given.expression)
        return nil
      }
      inverse = found
    } else {
      inverse = nil
    }
  }

  /// The name in `\Tag.items`, or a text.
  private static func inverse(_ expression: ExprSyntax) -> String? {
    if let text = expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue {
      return text
    }
    guard let path = expression.as(KeyPathExprSyntax.self), path.root != nil, path.components.count == 1,
      let property = path.components.first?.component.as(KeyPathPropertyComponentSyntax.self)
    else { return nil }
    return property.declName.baseName.text.filter { $0 != "`" }
  }

  /// The name of the constant with the property's key.
  var key: String { "_key_\(member)" }

  private var isSet: Bool { type.as(IdentifierTypeSyntax.self)?.name.text == "Set" }

  /// The element of `[Element]`.
  private var isArray: Bool { type.is(ArrayTypeSyntax.self) }

  var getter: String {
    if isSet { return "managedSet" }
    if isArray, inverse != nil { return "managedArray" }
    if inverse != nil, !isCollection { return "managedObject" }
    return "managedValue"
  }

  var setter: String {
    if isSet || isArray && inverse != nil { return "setManagedMembers" }
    if inverse != nil, !isCollection { return "setManagedObject" }
    return "setManagedValue"
  }

  /// Collections that `managedValue` reads: `NSSet?`, `Set<Tag>?`.
  private var isCollection: Bool {
    let wrapped: TypeSyntax = type.as(OptionalTypeSyntax.self)?.wrappedType ?? type
    if wrapped.is(ArrayTypeSyntax.self) { return true }
    return ["Set", "NSSet", "NSOrderedSet", "NSMutableSet", "NSMutableOrderedSet"].contains(
      wrapped.as(IdentifierTypeSyntax.self)?.name.text)
  }

  /// The property in the declaration of its entity.
  var declaration: String {
    var parts: [String] = ["\(StringLiteralExprSyntax(content: name))", "(\(type)).self"]
    parts += arguments.map { "\($0.label.map { "\($0.text): " } ?? "")\($0.expression.trimmed)" }
    if let inverse { parts.insert("inverse: \"\(inverse)\"", at: 2) }
    let property = ".property(\(parts.joined(separator: ", ")))"
    return member == name ? property : "\(property).declared(as: \"\(member)\")"
  }
}
