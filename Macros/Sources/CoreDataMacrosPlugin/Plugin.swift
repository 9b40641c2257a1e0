import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct CoreDataMacrosPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [ManagedObjectMacro.self, ManagedMacro.self]
}
