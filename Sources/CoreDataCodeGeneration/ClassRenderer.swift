/// Writes the class and its members as Swift. Every decision is in the plan.
struct ClassRenderer {
  let plan: ClassPlan
  let options: CodeGenerationOptions
  let types: PropertyTypes

  /// `public `, or nothing for internal. Members stand in extensions, where nothing is open.
  private var access: String { Self.prefix(options.access == .open ? .public : options.access) }
  /// Names slots; private to the file.
  private var slots: String { "_\(plan.name.flat)Slots" }
  private var reference: String { plan.name.reference }

  /// The type in each class that has the names of the properties.
  static let namesOfProperties = "PropertyName"

  static func prefix(_ access: CodeGenerationOptions.Access) -> String {
    access == .internal ? "" : "\(access.rawValue) "
  }

  // MARK: The class

  /// `@objc(Item) public class Item: NSManagedObject {}`
  func classDeclaration() -> SourceText {
    var text = SourceText()
    let body: (inout SourceText) -> Void = { text in
      if options.accessors != .slots {
        text.condition("canImport(ObjectiveC)") { $0.line("@objc(\(plan.name.name))") }
      }
      text.block(
        "\(Self.prefix(options.access))class \(SwiftNames.declared(plan.name.name)): \(plan.superclass)"
      ) { _ in }
    }
    if plan.name.path.count > 1 {
      text.block(
        "extension \(plan.name.path.dropLast().map(SwiftNames.declared).joined(separator: "."))", body)
    } else {
      body(&text)
    }
    return text
  }

  // MARK: Members

  func members() -> SourceText {
    var text = SourceText()
    if !plan.inheritsIdentity {
      text.line("extension \(reference): \(types.standard("Identifiable")) {}")
      text.gap()
    }
    switch options.accessors {
    case .slots: properties(&text, isManaged: false)
    case .managed: properties(&text, isManaged: true)
    case .portable:
      text.condition("canImport(ObjectiveC)") {
        $0.line()
        properties(&$0, isManaged: true)
        $0.line()
      } otherwise: {
        $0.line()
        properties(&$0, isManaged: false)
        $0.line()
      }
    }
    text.gap()
    names(&text)
    for finder in plan.finders {
      text.gap()
      find(finder, &text)
    }
    for enumeration in plan.enumerations {
      text.gap()
      declare(enumeration, &text)
    }
    return text
  }

  private func properties(_ text: inout SourceText, isManaged: Bool) {
    text.block("nonisolated extension \(reference)") { text in
      if plan.entities.count == 1 { fetchRequest(&text, isManaged: isManaged) }
      for property in plan.properties {
        text.gap()
        accessor(property, &text, isManaged: isManaged)
      }
    }
    for property in plan.relationships {
      guard case .toMany(let toMany) = property.kind else { continue }
      text.gap()
      if isManaged {
        managedMembers(property, toMany, &text)
      } else {
        slotMembers(property, toMany, &text)
      }
    }
    guard !isManaged, !plan.properties.isEmpty else { return }
    text.gap()
    text.line("/// A key for each property, which finds its slot once.")
    text.block("private nonisolated enum \(slots)") { text in
      for property in plan.properties {
        text.line(
          "static let \(SwiftNames.declaredStatic(property.name)) = \(types.standard("ManagedKey"))(\(RawValueType.quoted(property.name)))"
        )
      }
    }
  }

  /// A class that others inherit from has no request of its own where the framework has one for every class,
  /// `fetchRequest() -> NSFetchRequest<Self>`: in a subclass both would be meant, and neither is better.
  private func fetchRequest(_ text: inout SourceText, isManaged: Bool) {
    let type = "\(types.standard("NSFetchRequest"))<\(reference)>"
    func declare(_ text: inout SourceText) {
      text.block("\(access)class func fetchRequest() -> \(type)") {
        $0.line("\(type)(entityName: \(RawValueType.quoted(plan.entities[0])))")
      }
    }
    switch (isManaged, plan.hasSubclasses) {
    case (true, true):
      objectiveC(&text) {
        $0.line("@nonobjc")
        declare(&$0)
      }
    case (true, false):
      objectiveC(&text) { $0.line("@nonobjc") }
      declare(&text)
    case (false, true): break
    case (false, false): declare(&text)
    }
  }

  /// What only Objective-C has, among members that are `@NSManaged`; in portable files they stand under that
  /// condition already.
  private func objectiveC(_ text: inout SourceText, _ body: (inout SourceText) -> Void) {
    if options.accessors == .managed { text.condition("canImport(ObjectiveC)", body) } else { body(&text) }
  }

  // MARK: Properties

  private func accessor(_ property: PropertyPlan, _ text: inout SourceText, isManaged: Bool) {
    let head = "\(access)var \(property.declaredName): \(property.type)"
    if case .enumeration(let raw, let fallback) = property.kind {
      enumerationAccessor(property, raw: raw, fallback: fallback, head, &text, isManaged: isManaged)
      return
    }
    if isManaged {
      text.line("@NSManaged \(head)")
      return
    }
    let key = "\(slots).\(SwiftNames.declaredStatic(property.name))"
    let (read, write): (String, String?) =
      switch property.kind {
      case .value, .enumeration: ("managedValue(\(key))", "setManagedValue(newValue, \(key))")
      case .object: ("managedObjectValue(\(key))", "setManagedObjectValue(newValue, \(key))")
      case .toOne: ("managedObject(\(key))", "setManagedObject(newValue, \(key))")
      case .toMany(let plan):
        switch (options.collections, plan.isOrdered) {
        case (.foundation, false): ("managedSet(\(key))", "setManagedMembers(newValue, \(key))")
        case (.foundation, true): ("managedOrderedSet(\(key))", "setManagedMembers(newValue, \(key))")
        case (.swift, false): ("managedSet(\(key))", "setManagedMembers(newValue, \(key))")
        case (.swift, true): ("managedArray(\(key))", "setManagedMembers(newValue, \(key))")
        }
      case .fetched: ("managedArray(\(key))", nil)
      }
    text.block(head) { text in
      guard let write else {
        text.line(read)
        return
      }
      text.line("get { \(read) }")
      text.line("set { \(write) }")
    }
  }

  /// Objective-C has enumerations of whole numbers only, so `@NSManaged` can't serve here.
  private func enumerationAccessor(
    _ property: PropertyPlan, raw: String, fallback: String?, _ head: String, _ text: inout SourceText,
    isManaged: Bool
  ) {
    let ending: String = fallback.map { " ?? .\(SwiftNames.declared($0))" } ?? ""
    let key: String = RawValueType.quoted(property.name)
    let type: String = property.type.hasSuffix("?") ? String(property.type.dropLast()) : property.type
    text.block(head) { text in
      if isManaged {
        text.block("get") { text in
          text.line("willAccessValue(forKey: \(key))")
          text.line("defer { didAccessValue(forKey: \(key)) }")
          text.line(
            "return (primitiveValue(forKey: \(key)) as? \(raw)).flatMap { \(type)(rawValue: $0) }\(ending)")
        }
        text.block("set") { text in
          text.line("willChangeValue(forKey: \(key))")
          text.line("defer { didChangeValue(forKey: \(key)) }")
          text.line("setPrimitiveValue(newValue\(fallback == nil ? "?" : "").rawValue, forKey: \(key))")
        }
      } else {
        let slot = "\(slots).\(SwiftNames.declaredStatic(property.name))"
        text.line(
          fallback == nil
            ? "get { managedValue(\(slot)) }" : "get { (managedValue(\(slot)) as \(type)?)\(ending) }")
        text.line("set { setManagedValue(newValue, \(slot)) }")
      }
    }
  }

  // MARK: Members of relationships

  private func managedMembers(_ property: PropertyPlan, _ plan: ToManyPlan, _ text: inout SourceText) {
    let name: String = SwiftNames.capitalized(property.name)
    func declare(_ selector: String, _ declaration: String, _ text: inout SourceText) {
      text.gap()
      objectiveC(&text) { $0.line("@objc(\(selector))") }
      text.line("@NSManaged \(access)func \(declaration)")
    }
    let values: String = types.standard(plan.isOrdered ? "NSOrderedSet" : "NSSet")
    text.line("// MARK: Members of \(property.name)")
    text.gap()
    text.block("nonisolated extension \(reference)") { text in
      if plan.isOrdered {
        let indexes: String = types.standard("NSIndexSet")
        declare(
          "insertObject:in\(name)AtIndex:", "insertInto\(name)(_ value: \(plan.member), at idx: Int)", &text)
        declare("removeObjectFrom\(name)AtIndex:", "removeFrom\(name)(at idx: Int)", &text)
        declare(
          "insert\(name):atIndexes:", "insertInto\(name)(_ values: [\(plan.member)], at indexes: \(indexes))",
          &text)
        declare("remove\(name)AtIndexes:", "removeFrom\(name)(at indexes: \(indexes))", &text)
        declare(
          "replaceObjectIn\(name)AtIndex:withObject:",
          "replace\(name)(at idx: Int, with value: \(plan.member))", &text)
        declare(
          "replace\(name)AtIndexes:with\(name):",
          "replace\(name)(at indexes: \(indexes), with values: [\(plan.member)])", &text)
      }
      declare("add\(name)Object:", "addTo\(name)(_ value: \(plan.member))", &text)
      declare("remove\(name)Object:", "removeFrom\(name)(_ value: \(plan.member))", &text)
      declare("add\(name):", "addTo\(name)(_ values: \(values))", &text)
      declare("remove\(name):", "removeFrom\(name)(_ values: \(values))", &text)
    }
  }

  private func slotMembers(_ property: PropertyPlan, _ plan: ToManyPlan, _ text: inout SourceText) {
    let name: String = SwiftNames.capitalized(property.name)
    let key = "\(slots).\(SwiftNames.declaredStatic(property.name))"
    let members = "mutableOrderedSetValue(forKey: \(RawValueType.quoted(property.name)))"
    let int: String = types.standard("Int")
    let values: String = types.standard(plan.isOrdered ? "NSOrderedSet" : "NSSet")
    let object: String = types.standard("NSManagedObject")
    func function(_ declaration: String, _ body: String, _ text: inout SourceText) {
      text.gap()
      text.block("\(access)func \(declaration)") { $0.line(body) }
    }
    text.line("// MARK: Members of \(property.name)")
    text.gap()
    text.block("nonisolated extension \(reference)") { text in
      if plan.isOrdered {
        let indexes: String = types.standard("NSIndexSet")
        function(
          "insertInto\(name)(_ value: \(plan.member), at idx: \(int))", "\(members).insert(value, at: idx)",
          &text)
        function("removeFrom\(name)(at idx: \(int))", "\(members).removeObject(at: idx)", &text)
        function(
          "insertInto\(name)(_ values: [\(plan.member)], at indexes: \(indexes))",
          "\(members).insert(values, at: indexes as \(types.standard("IndexSet")))", &text)
        function(
          "removeFrom\(name)(at indexes: \(indexes))",
          "\(members).removeObjects(at: indexes as \(types.standard("IndexSet")))",
          &text)
        function(
          "replace\(name)(at idx: \(int), with value: \(plan.member))",
          "\(members).replaceObject(at: idx, with: value)", &text)
        function(
          "replace\(name)(at indexes: \(indexes), with values: [\(plan.member)])",
          "\(members).replaceObjects(at: indexes as \(types.standard("IndexSet")), with: values)", &text)
      }
      function("addTo\(name)(_ value: \(plan.member))", "addManagedMember(value, \(key))", &text)
      function("removeFrom\(name)(_ value: \(plan.member))", "removeManagedMember(value, \(key))", &text)
      function(
        "addTo\(name)(_ values: \(values))",
        "for case let value as \(object) in values { addManagedMember(value, \(key)) }",
        &text)
      function(
        "removeFrom\(name)(_ values: \(values))",
        "for case let value as \(object) in values { removeManagedMember(value, \(key)) }", &text)
    }
  }

  // MARK: Names, templates, types with raw values

  private func names(_ text: inout SourceText) {
    guard !plan.propertyNames.isEmpty else { return }
    text.block("nonisolated extension \(reference)") { text in
      text.line("/// The names of the properties, for predicates, sort descriptors and key-value coding.")
      text.block("\(access)enum \(Self.namesOfProperties)") { text in
        for name in plan.propertyNames {
          text.line("\(access)static let \(SwiftNames.declaredStatic(name)) = \(RawValueType.quoted(name))")
        }
      }
    }
  }

  private func find(_ finder: FinderPlan, _ text: inout SourceText) {
    let context: String = types.standard("NSManagedObjectContext")
    let parameters: String =
      (finder.parameters.map { "\(SwiftNames.declared($0.name)): \($0.type)" } + ["in context: \(context)"])
      .joined(separator: ", ")
    let variables: String =
      finder.parameters.isEmpty
      ? "[:]"
      : "["
        + finder.parameters.map { parameter in
          "\(RawValueType.quoted(parameter.variable)): \(SwiftNames.declared(parameter.name))"
            + (parameter.isEnumeration ? ".rawValue" : "")
        }.joined(separator: ", ") + "]"
    let (type, result): (String, String) =
      switch finder.result {
      case .objects(let name): ("[\(name)]", "try context.fetch(request).compactMap { $0 as? \(name) }")
      case .ids:
        (
          "[\(types.standard("NSManagedObjectID"))]",
          "try context.fetch(request).compactMap { $0 as? \(types.standard("NSManagedObjectID")) }"
        )
      case .dictionaries:
        (
          "[[\(types.standard("String")): Any]]",
          "try context.fetch(request).compactMap { $0 as? [\(types.standard("String")): Any] }"
        )
      case .count: (types.standard("Int"), "try context.count(for: request)")
      }
    text.block("nonisolated extension \(reference)") { text in
      text.line("/// Executes the fetch request template \(finder.template) of the context's model.")
      text.block("\(access)class func \(finder.name)(\(parameters)) throws -> \(type)") { text in
        let template: String = RawValueType.quoted(finder.template)
        text.line("let _model = context.persistentStoreCoordinator?.managedObjectModel")
        text.line("guard")
        text.line(
          "  let request = _model?.fetchRequestFromTemplate(withName: \(template), substitutionVariables: \(variables))"
        )
        text.line("else {")
        let message: String = RawValueType.quoted(
          "The model of the context has no fetch request template '\(finder.template)'; use a context with a coordinator of the model that this class was generated from."
        )
        text.line(
          "  throw \(types.standard("NSError"))(domain: \(types.standard("NSCocoaErrorDomain")), code: 134060, userInfo: [\(types.standard("NSLocalizedDescriptionKey")): \(message)])"
        )
        text.line("}")
        text.line("return \(result)")
      }
    }
  }

  private func declare(_ enumeration: EnumerationPlan, _ text: inout SourceText) {
    let conformances: String = [enumeration.raw, types.standard("CaseIterable"), types.standard("Sendable")]
      .joined(separator: ", ")
    text.block("\(access)nonisolated enum \(SwiftNames.declared(enumeration.name)): \(conformances)") {
      text in
      for item in enumeration.cases { text.line("case \(SwiftNames.declared(item.name)) = \(item.value)") }
    }
  }
}
