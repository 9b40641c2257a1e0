import CoreData

/// Making OO7's database, by objects and one save.
extension OO7Stack {
  static func write(_ plan: OO7Plan, to store: URL) throws {
    let container: NSPersistentContainer = try BenchStore.open(store, model())
    let context: NSManagedObjectContext = container.newBackgroundContext()
    try context.performAndWait {
      let composites: [OO7CompositePart] = plan.composites.map { OO7CompositePart.make($0, in: context) }
      let module = OO7Module(context: context)
      (module.number, module.type, module.buildDate) = (1, OO7Range.types[0], 1000)
      let manual = OO7Manual(context: context)
      (manual.number, manual.title, manual.text) = (1, "Manual for module #1", plan.manualText)
      module.manual = manual
      var assemblies: [OO7Assembly] = []
      for planned in plan.assemblies {
        let assembly: OO7Assembly
        if planned.isBase {
          let base = OO7BaseAssembly(context: context)
          for place in planned.componentsPrivate { base.addToComponentsPrivate(composites[place]) }
          for place in planned.componentsShared { base.addToComponentsShared(composites[place]) }
          assembly = base
        } else {
          assembly = OO7ComplexAssembly(context: context)
        }
        assembly.number = Int64(planned.number)
        assembly.type = planned.type
        assembly.buildDate = Int32(planned.buildDate)
        assembly.module = module
        assembly.superAssembly = planned.parent.flatMap { assemblies[$0] as? OO7ComplexAssembly }
        assemblies.append(assembly)
      }
      module.designRoot = assemblies.first as? OO7ComplexAssembly
      try context.save()
      context.reset()
    }
    try BenchStore.close(container)
  }
}

extension OO7CompositePart {
  static func make(_ plan: OO7Plan.CompositePart, in context: NSManagedObjectContext) -> OO7CompositePart {
    let composite = OO7CompositePart(context: context)
    composite.number = Int64(plan.number)
    composite.type = plan.type
    composite.buildDate = Int32(plan.buildDate)
    let document = OO7Document(context: context)
    document.number = Int64(plan.number)
    document.title = plan.documentTitle
    document.text = plan.documentText
    composite.documentation = document
    let parts: [OO7AtomicPart] = plan.atomicParts.map { planned in
      let part = OO7AtomicPart(context: context)
      part.number = Int64(planned.number)
      part.type = planned.type
      part.buildDate = Int32(planned.buildDate)
      part.x = Int32(planned.x)
      part.y = Int32(planned.y)
      part.docID = Int64(planned.docID)
      part.partOf = composite
      return part
    }
    composite.rootPart = parts[0]
    for planned in plan.connections {
      let connection = OO7Connection(context: context)
      connection.type = planned.type
      connection.length = Int32(planned.length)
      connection.from = parts[planned.from]
      connection.to = parts[planned.to]
    }
    return composite
  }
}
