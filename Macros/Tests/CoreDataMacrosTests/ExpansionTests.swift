import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import Testing

@testable import CoreDataMacrosPlugin

@Suite struct ExpansionTests {
  private static func expand(_ source: String) -> (text: String, messages: [String]) {
    let file: SourceFileSyntax = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(sourceFiles: [
      file: .init(moduleName: "App", fullFilePath: "App.swift")
    ])
    let specifications: [String: MacroSpec] = [
      "ManagedObject": MacroSpec(type: ManagedObjectMacro.self, conformances: ["DeclaredEntity"]),
      "Managed": MacroSpec(type: ManagedMacro.self),
    ]
    let expanded: Syntax = file.expand(
      macroSpecs: specifications,
      contextGenerator: {
        BasicMacroExpansionContext(sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
      },
      indentationWidth: .spaces(2))
    return (expanded.trimmedDescription, context.diagnostics.map(\.message))
  }

  @Test func `a class gets accessors, its declaration and a fetch request`() {
    let result = Self.expand(
      """
      @ManagedObject(unique: [["code"]])
      public final class Item: NSManagedObject {
        @Managed(default: 3) var priority: Int16
        @Managed(inverse: \\Tag.items, rule: .cascadeDeleteRule) var tags: Set<Tag>
      }
      """)
    #expect(result.messages == [])
    #expect(
      result.text == """
        public final class Item: NSManagedObject {
          var priority: Int16 {
            get {
              managedValue(Self._key_priority)
            }
            set {
              setManagedValue(newValue, Self._key_priority)
            }
          }

          private nonisolated static let _key_priority = ManagedKey("priority")
          var tags: Set<Tag> {
            get {
              managedSet(Self._key_tags)
            }
            set {
              setManagedMembers(newValue, Self._key_tags)
            }
          }

          private nonisolated static let _key_tags = ManagedKey("tags")

          public nonisolated class var entityDeclaration: EntityDeclaration {
            EntityDeclaration("Item", Self.self, unique: [["code"]], [
              .property("priority", (Int16).self, default: 3),
              .property("tags", (Set<Tag>).self, inverse: "items", rule: .cascadeDeleteRule),
            ])
          }

          public nonisolated class func fetchRequest() -> NSFetchRequest<Item> {
            NSFetchRequest<Item>(entityName: entityDeclaration.name)
          }
        }

        extension Item: DeclaredEntity {
        }
        """, "\(result.text)")
  }

  @Test func `a property has another name in the model than in the class`() {
    let result = Self.expand(
      #"@ManagedObject class Item: NSManagedObject { @Managed(name: "description", was: "x") var text: String? }"#
    )
    #expect(result.messages == [])
    #expect(result.text.contains(#"_key_text = ManagedKey("description")"#), "\(result.text)")
    #expect(
      result.text.contains(#".property("description", (String?).self, was: "x").declared(as: "text")"#),
      "\(result.text)")
  }

  @Test func `a subclass overrides the declaration, and keeps a fetch request of its own`() {
    let text: String = Self.expand(
      """
      @ManagedObject("Book") final class SpecialItem: Item {
        class func fetchRequest() -> NSFetchRequest<SpecialItem> { .init(entityName: "Book") }
      }
      """
    ).text
    #expect(text.contains("override nonisolated class var entityDeclaration"))
    #expect(text.contains(#"EntityDeclaration("Book", Self.self, parent: Item.self, [])"#))
    #expect(text.components(separatedBy: "func fetchRequest").count == 2)
    #expect(!text.contains("extension"))
  }

  @Test(arguments: [
    ("@Managed let title: String?", "write 'var' instead of 'let'"),
    ("@Managed var title", "needs its type"),
    ("@Managed var title: String? = nil", "write @Managed(default: …)"),
    ("@Managed var title: String? { nil }", "remove them, or remove @Managed"),
    ("@Managed static var title: String?", "remove 'static' or 'class'"),
    ("@Managed(inverse: \\Tag.items.first) var tag: Tag?", "with its class and one name"),
    ("@Managed(name: \"a\\(1)\") var title: String?", "a text without interpolation"),
    ("@Managed(name: \"\") var title: String?", "a text without interpolation"),
    ("@Managed class var title: String?", "remove 'static' or 'class'"),
    ("@Managed var title: String? { willSet {} }", "remove them, or remove @Managed"),
  ])
  func `a property that can't be managed says what to write`(declaration: String, message: String) {
    let result = Self.expand("@ManagedObject class Item: NSManagedObject {\n  \(declaration)\n}")
    #expect(result.messages.count == 1, "\(result.messages)")
    #expect(result.messages.first?.contains(message) == true, "\(result.messages)")
  }

  @Test(arguments: [
    ("@ManagedObject struct Item {}", "belongs on a class"),
    ("@ManagedObject enum Item {}", "belongs on a class"),
    ("@ManagedObject protocol Item {}", "belongs on a class"),
    (
      "@ManagedObject class Item: NSManagedObject {\n @Managed var a: Int\n @Managed(name: \"a\") var b: Int\n}",
      "declared twice"
    ),
    ("@ManagedObject class Item {}", "derives from NSManagedObject"),
    ("@ManagedObject class Item<T>: NSManagedObject {}", "no type parameters"),
    (
      "@ManagedObject class Item: NSManagedObject {\n @Managed var a: Int\n @Managed var a: Int\n}",
      "declared twice"
    ),
  ])
  func `a class that can't have an entity says what to write`(declaration: String, message: String) {
    let result = Self.expand(declaration)
    #expect(result.messages.count == 1, "\(result.messages)")
    #expect(result.messages.first?.contains(message) == true, "\(result.messages)")
  }
}
