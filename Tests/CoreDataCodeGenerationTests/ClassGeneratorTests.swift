import CoreDataCodeGeneration
import CoreDataModel
import Foundation
import TestSupport
import Testing

/// The generated text. The goldens are in Fixtures; run with `CLARUS_RECORD_GOLDENS=1` to write them anew.
struct ClassGeneratorTests {
  private static func options(_ accessors: CodeGenerationOptions.Accessors) -> CodeGenerationOptions {
    CodeGenerationOptions(accessors: accessors, module: "Kitchen")
  }

  @Test(arguments: CodeGenerationOptions.Accessors.allCases)
  func `the classes of a model with every kind of property are the golden ones`(
    _ accessors: CodeGenerationOptions.Accessors
  ) throws {
    let url: URL = OwnFixtures.kitchen
    let model: NSManagedObjectModel = try NSManagedObjectModel.load(contentsOf: url).model
    let classes: GeneratedClasses = ClassGenerator(options: Self.options(accessors)).classes(
      of: model, file: "contents")
    let text: String = classes.files.map { "=== \($0.name)\n\($0.contents)" }.joined()
    let golden: URL = OwnFixtures.url("Kitchen-\(accessors.rawValue).txt")
    if ProcessInfo.processInfo.environment["CLARUS_RECORD_GOLDENS"] != nil {
      try Data(text.utf8).write(to: golden)
    }
    let expected = String(decoding: try Data(contentsOf: golden), as: UTF8.self)
    for (line, (found, wanted)) in zip(text.split(separator: "\n"), expected.split(separator: "\n"))
      .enumerated()
    where found != wanted {
      Issue.record(
        "\(golden.lastPathComponent), line \(line) without empty ones: \(found) instead of \(wanted)")
      break
    }
    #expect(text.count == expected.count)
  }

  @Test func `each mode of Codegen gives its files`() throws {
    let url: URL = OwnFixtures.kitchen
    let model: NSManagedObjectModel = try NSManagedObjectModel.load(contentsOf: url).model
    func names(_ entities: CodeGenerationOptions.Entities) -> [String] {
      ClassGenerator(options: CodeGenerationOptions(entities: entities, module: "Kitchen"))
        .classes(of: model, file: "contents").files.map(\.name)
    }
    #expect(
      names(.asModelled)
        == ["Base", "Dish", "Recipe"].flatMap {
          ["Kitchen\($0)+CoreDataClass.swift", "Kitchen\($0)+CoreDataProperties.swift"]
        }
        + [
          "KitchenStep+CoreDataProperties.swift", "KitchenTag+CoreDataClass.swift",
          "KitchenTag+CoreDataProperties.swift",
        ])
    // Person says nothing of Codegen, which is Manual/None; Plain has no class of its own.
    #expect(
      names(.all)
        == ["Base", "Dish", "Person", "Recipe", "Step", "Tag"].flatMap {
          ["Kitchen\($0)+CoreDataClass.swift", "Kitchen\($0)+CoreDataProperties.swift"]
        })
  }

  // MARK: Classes

  @Test(arguments: [
    ("Item", nil, "public class Item: NSManagedObject"),
    (".Item", "Shop", "public class Item: NSManagedObject"),
    ("Shop.Item", "Shop", "public class Item: NSManagedObject"),
    ("Shop.Item", nil, "public class Item: NSManagedObject"), ("Outer.Item", "Shop", "extension Outer {"),
    ("Shop.Outer.Item", "Shop", "extension Outer {"),
    ("default", "Shop", "public class `default`: NSManagedObject"),
  ])
  func `the class's name may carry its module or the type it is nested in`(
    _ name: String, _ module: String?, _ expected: String
  ) throws {
    let model = try TextModel(
      #"<entity name="Item" representedClassName="\#(name)" codeGenerationType="class"/>"#)
    let source: String = model.source(CodeGenerationOptions(module: module))
    #expect(source.contains(expected + " {") || source.contains("\n" + expected), "\(source)")
    #expect(model.messages(CodeGenerationOptions(module: module)) == [])
  }

  @Test func `a class of another module is imported and not generated`() throws {
    let model = try TextModel(
      """
      <entity name="Base" representedClassName="Other.Base" codeGenerationType="class"/>
      <entity name="Item" representedClassName="Item" parentEntity="Base" codeGenerationType="class"/>
      """)
    let options = CodeGenerationOptions(module: "Shop", otherModules: ["Other"])
    let source: String = model.source(options)
    #expect(source.contains("import Other\n"))
    #expect(source.contains("public class Item: Other.Base"))
    #expect(!source.contains("class Base"))
    #expect(
      model.messages(options) == [
        "contents:2: warning: The class Other.Base of entity 'Base' belongs to the module Other, so none is generated here; set the entity's Codegen to Manual/None."
      ])
  }

  @Test func `a class of several entities has the properties of all and no request of one`() throws {
    let model = try TextModel(
      """
      <entity name="A" representedClassName="Thing" codeGenerationType="class">
        <attribute name="one" attributeType="String"/>
      </entity>
      <entity name="B" representedClassName="Thing" parentEntity="A" codeGenerationType="class">
        <attribute name="two" attributeType="String"/>
      </entity>
      """)
    let source: String = model.source()
    #expect(source.contains("var one: String?") && source.contains("var two: String?"))
    #expect(source.ranges(of: "class Thing: NSManagedObject").count == 1)
    #expect(!source.contains("fetchRequest"))
    #expect(model.messages() == [])
  }

  @Test func `a class whose entities disagree is an error at the line`() throws {
    let model = try TextModel(
      """
      <entity name="A" representedClassName="Thing" codeGenerationType="class">
        <attribute name="one" attributeType="String"/>
      </entity>
      <entity name="B" representedClassName="Thing" codeGenerationType="class">
        <attribute name="one" attributeType="Date"/>
      </entity>
      """)
    #expect(
      model.messages() == [
        "contents:6: error: The property 'one' of the class Thing would be Date? for entity 'B' and String? for 'A'."
      ])
  }

  @Test func `an entity below one without a class declares that one's properties too`() throws {
    let model = try TextModel(
      """
      <entity name="Base"><attribute name="inherited" attributeType="String"/></entity>
      <entity name="Item" representedClassName="Item" parentEntity="Base" codeGenerationType="class"/>
      """)
    #expect(model.source().contains("public class Item: NSManagedObject"))
    #expect(model.source().contains("var inherited: String?"))
  }

  @Test(arguments: ["no class", "1st", "A-B", "A..B "])
  func `a class name that Swift can't have is an error at the line`(_ name: String) throws {
    let model = try TextModel(
      #"<entity name="Item" representedClassName="\#(name)" codeGenerationType="class"/>"#)
    if name == "A..B " {
      #expect(model.messages().first?.contains("is no name of a class in Swift") == true)
    } else {
      #expect(
        model.messages() == [
          "contents:2: error: The class '\(name)' of entity 'Item' is no name of a class in Swift."
        ])
    }
  }

  // MARK: Properties

  @Test(arguments: [
    ("description", "NSManagedObject has a member of this name"),
    ("objectID", "NSManagedObject has a member"),
    ("hash", "NSManagedObject has a member"), ("a-b", "its name is no identifier"),
    ("_", "its name is no identifier"), ("isEqual", "NSManagedObject has a member"),
  ])
  func `a property that can't have an accessor is a warning at its line`(_ name: String, _ reason: String)
    throws
  {
    let model = try TextModel(
      """
      <entity name="Item" representedClassName="Item" codeGenerationType="class">
        <attribute name="\(name)" attributeType="String"/>
      </entity>
      """)
    let message: String = try #require(model.messages().first)
    #expect(message.hasPrefix("contents:3: warning: The property '\(name)' of entity 'Item' has no accessor"))
    #expect(message.contains(reason))
    #expect(!model.source().contains("var "))
  }

  @Test func `a property whose user info says so has no accessor and no message`() throws {
    func model(_ value: String) throws -> TextModel {
      try TextModel(
        """
        <entity name="Item" representedClassName="Item" codeGenerationType="class">
          <attribute name="hash" attributeType="String"><userInfo>
            <entry key="clarus.accessor" value="\(value)"/></userInfo></attribute>
        </entity>
        """)
    }
    #expect(try model("none").messages() == [])
    #expect(try !model("none").source().contains("var "))
    #expect(
      try model("any").messages() == [
        "contents:3: error: The user info of property 'hash' of entity 'Item': clarus.accessor is 'any'; it can be none."
      ])
  }

  @Test func `types that the program hides are written with their module`() throws {
    let model = try TextModel(
      """
      <entity name="Data" representedClassName="Data" codeGenerationType="class">
        <attribute name="bytes" attributeType="Binary"/>
        <relationship name="parts" toMany="YES" destinationEntity="Data"/>
      </entity>
      """)
    #expect(model.source().contains("public var bytes: Foundation.Data?"))
    #expect(model.source().contains("func addToParts(_ value: Data)"))
  }

  @Test(arguments: [
    (CodeGenerationOptions(access: .internal), "\nclass Tag: NSManagedObject", "\n  var name: String?"),
    (CodeGenerationOptions(access: .package), "\npackage class Tag:", "\n  package var name: String?"),
    (CodeGenerationOptions(access: .open), "\nopen class Tag:", "\n  public var name: String?"),
    (CodeGenerationOptions(collections: .swift), "\npublic class Tag:", "\n  public var others: Set<Tag> {"),
    (
      CodeGenerationOptions(accessors: .managed), "@objc(Tag)\n#endif\npublic class Tag:",
      "\n  @NSManaged public var name"
    ),
  ])
  func `options change access, accessors and collections`(
    _ options: CodeGenerationOptions, _ head: String, _ member: String
  ) throws {
    let model = try TextModel(
      """
      <entity name="Tag" representedClassName="Tag" codeGenerationType="class">
        <attribute name="name" attributeType="String"/>
        <relationship name="others" toMany="YES" destinationEntity="Tag"/>
      </entity>
      """)
    let source: String = model.source(options)
    #expect(source.contains(head) && source.contains(member), "\(source)")
  }

  // MARK: User info

  @Test(arguments: [
    ("Integer 16", "clarus.cases", "a, 1b", "clarus.cases has '1b', which is no name of a case in Swift."),
    ("Integer 16", "clarus.cases", "a = x", "clarus.cases gives 'a' the value 'x', which is no Integer 16."),
    (
      "Integer 16", "clarus.cases", "a = 40000",
      "clarus.cases gives 'a' the value '40000', which is no Integer 16."
    ),
    (
      "Integer 32", "clarus.cases", "a = 1, b = 1", "clarus.cases has 'a' and 'b' with one name or one value."
    ),
    ("String", "clarus.cases", " ", "clarus.cases has '', which is no name of a case in Swift."),
    ("String", "clarus.type", "My Type", "clarus.type is 'My Type', which is no name of a type in Swift."),
    (
      "Date", "clarus.type", "When",
      "clarus.type and clarus.cases are for integers and texts; this is a Date."
    ),
    ("String", "clarus.type", "class", "clarus.type is 'class', which is no name of a type in Swift."),
    (
      "String", "clarus.type", "String",
      "clarus.type is 'String', which is a type of Swift or Foundation; name another type in clarus.type."
    ),
    (
      "String", "clarus.type", "Item",
      "clarus.type is 'Item', which is a class of the model; name another type in clarus.type."
    ),
    (
      "String", "clarus.cases", "a, b",
      "clarus.cases declares 'ItemKind', which is a class of the model; name another type in clarus.type."
    ),
  ])
  func `a user info that declares no type is an error at the line`(
    _ type: String, _ key: String, _ value: String, _ reason: String
  ) throws {
    let model = try TextModel(
      """
      <entity name="Item" representedClassName="Item" codeGenerationType="class">
        <attribute name="kind" attributeType="\(type)">
          <userInfo><entry key="\(key)" value="\(value)"/></userInfo>
        </attribute>
      </entity>
      <entity name="Kind" representedClassName="\(value == "a, b" ? "ItemKind" : "Kind")"/>
      """)
    #expect(
      model.messages() == ["contents:3: error: The user info of attribute 'kind' of entity 'Item': \(reason)"]
    )
  }

  @Test func `a type that two attributes declare alike is declared once`() throws {
    func model(_ second: String) throws -> TextModel {
      try TextModel(
        ["a, b", second].enumerated().map {
          """
          <entity name="E\($0)" representedClassName="E\($0)" codeGenerationType="class">
            <attribute name="kind" attributeType="String"><userInfo>
              <entry key="clarus.type" value="Kind"/><entry key="clarus.cases" value="\($1)"/>
            </userInfo></attribute>
          </entity>
          """
        }.joined(separator: "\n"))
    }
    #expect(try model("a, b").source().ranges(of: "enum Kind").count == 1)
    #expect(try model("a, b").messages() == [])
    #expect(
      try model("a, c").messages() == [
        "contents:8: error: The type Kind is declared twice by user infos of attributes, with different cases."
      ])
  }

  // MARK: Names that collide

  @Test func `fetch requests whose functions would have one name are told`() throws {
    let model = try TextModel(
      """
      <entity name="Item" representedClassName="Item" codeGenerationType="class">
        <attribute name="name" attributeType="String"/>
      </entity>
      <entity name="Note" representedClassName="Note" codeGenerationType="class"/>
      <entity name="Part" representedClassName="Part" parentEntity="Item" codeGenerationType="class"/>
      <fetchRequest name="ByName" entity="Item" predicateString="name == $NAME"/>
      <fetchRequest name="byName" entity="Item" predicateString="name == $NAME"/>
      <fetchRequest name="fetchByName" entity="Part"/>
      <fetchRequest name="FetchByName" entity="Note"/>
      """)
    let reason = "the one of 'ByName' is fetchByName already. Rename one of them."
    #expect(
      model.messages().sorted() == [
        "contents:8: warning: The fetch request 'byName' has no function: \(reason)",
        "contents:9: warning: The fetch request 'fetchByName' has no function: \(reason)",
      ])
    #expect(model.source().ranges(of: "func fetchByName").count == 2)
  }

  @Test func `the finder of an attribute with raw values takes their type`() throws {
    let model = try TextModel(
      """
      <entity name="Item" representedClassName="Item" codeGenerationType="class">
        <attribute name="kind" attributeType="Integer 16"><userInfo>
          <entry key="clarus.cases" value="low, high"/></userInfo></attribute>
        <attribute name="state" attributeType="String"><userInfo>
          <entry key="clarus.type" value="State"/></userInfo></attribute>
      </entity>
      <fetchRequest name="a" entity="Item" predicateString="kind &gt;= $KIND AND state == $STATE"/>
      <fetchRequest name="b" entity="Item" predicateString="state BEGINSWITH $STATE"/>
      """)
    let source: String = model.source()
    #expect(source.contains("func fetchA(kind: ItemKind, state: State, in context:"))
    #expect(source.contains("[\"KIND\": kind.rawValue, \"STATE\": state.rawValue]"))
    #expect(source.contains("func fetchB(state: String, in context:"))
  }

  @Test func `methods and inherited properties of one name are errors at their lines`() throws {
    let model = try TextModel(
      """
      <entity name="Item" representedClassName="Item" codeGenerationType="class">
        <attribute name="name" attributeType="String"/>
        <relationship name="Tags" toMany="YES" destinationEntity="Item"/>
        <relationship name="tags" toMany="YES" destinationEntity="Item"/>
      </entity>
      <entity name="Part" representedClassName="Part" parentEntity="Item" codeGenerationType="class">
        <attribute name="name" attributeType="Date"/>
      </entity>
      """)
    #expect(
      model.messages() == [
        "contents:5: error: The relationships 'Tags' and 'tags' of entity 'Item' would have the same methods, addToTags and "
          + "so on; rename one of them.",
        "contents:8: error: The property 'name' of entity 'Part' has the name of one that the entity inherits; rename it.",
      ])
  }

  @Test func `classes of one name in two modules need the module that is generated`() throws {
    let model = try TextModel(
      """
      <entity name="A" representedClassName="One.Item" codeGenerationType="class"/>
      <entity name="B" representedClassName="Two.Item" codeGenerationType="class"/>
      """)
    #expect(
      model.messages() == [
        "contents:3: error: The classes of the entities 'B' and 'A' are in the modules Two and One: name the one that is "
          + "generated with --module."
      ])
  }

  @Test func `a class of the name of a type in each class is an error`() throws {
    let model = try TextModel(
      "<entity name=\"Item\" representedClassName=\"PropertyName\" codeGenerationType=\"class\"/>")
    #expect(
      model.messages() == [
        "contents:2: error: The class 'PropertyName' of entity 'Item' has the name of the type with the names of properties "
          + "that each class has; name it otherwise."
      ])
  }

  @Test(
    arguments: [
      ("Foo", "Foo?"), ("[String]", "[String]?"), ("[String: Any]?", "[String: Any]?"),
      ("A.B<C, [D]>", "A.B<C, [D]>?"), ("Foo Bar", nil), ("[String", nil), ("Foo {", nil), ("A<B", nil),
      ("A..B", nil), ("1A", nil), (String(repeating: "[", count: 50_000), nil), ("?", nil), ("[A:]", nil),
    ] as [(String, String?)])
  func `the class of transformable values is a type, or an error at the line`(
    _ name: String, _ type: String?
  ) throws {
    let model = try TextModel(
      """
      <entity name="Item" representedClassName="Item" codeGenerationType="class">
        <attribute name="value" attributeType="Transformable" customClassName="\(name.replacing("<", with: "&lt;"))"/>
      </entity>
      """)
    let message =
      "contents:3: error: The class '\(name)' of the values of attribute 'value' of entity 'Item' is no type in Swift."
    #expect(model.messages() == (type == nil ? [message] : []))
    #expect(model.source().contains("public var value: \(type ?? "NSObject?") {"))
  }
}
