import CoreDataModel
import Foundation

/// Writes the classes of a model as Swift source, as Xcode's editor does ("Codegen" in the inspector of an
/// entity).
///
/// | Codegen | files |
/// |---|---|
/// | Class Definition | `Item+CoreDataClass.swift`, `Item+CoreDataProperties.swift` |
/// | Category/Extension | `Item+CoreDataProperties.swift`; the program declares the class |
/// | Manual/None | none |
///
/// Attributes come before relationships, each in alphabetical order, so that equal models give equal text.
/// Beside what Xcode writes, a class has the names of its properties (`Item.PropertyName.title`), a function
/// for each fetch request template of its entity, fetched properties, and types with raw values where the
/// user info of an attribute declares them (`clarus.type`, `clarus.cases`).
///
/// The code is free of warnings in the Swift 6 mode, whatever the default isolation of the module is. Queue:
/// any. Cost: linear in the model.
public struct ClassGenerator: Sendable {
  public let options: CodeGenerationOptions

  public init(options: CodeGenerationOptions = CodeGenerationOptions()) { self.options = options }

  /// The files of each class.
  ///
  /// - Parameters:
  ///   - file: where the model is, for messages: the `contents` file of a source.
  ///   - lines: the places of entities and properties in that file.
  public func classes(
    of model: NSManagedObjectModel, file: String, lines: ModelSourceLines? = nil
  ) -> GeneratedClasses {
    var planner = ClassPlanner(model, file: file, lines: lines, options)
    let plans: [ClassPlan] = planner.plans()
    let head: String = head(planner.imports(of: plans))
    var files: [GeneratedFile] = []
    for plan in plans {
      let renderer = ClassRenderer(plan: plan, options: options, types: planner.types)
      if plan.mode == .wholeClass {
        files.append(
          GeneratedFile(
            name: "\(plan.name.fileName)+CoreDataClass.swift",
            contents: head + renderer.classDeclaration().text))
      }
      files.append(
        GeneratedFile(
          name: "\(plan.name.fileName)+CoreDataProperties.swift", contents: head + renderer.members().text))
    }
    return GeneratedClasses(files: files, messages: planner.messages)
  }

  /// The same in one text, for builds that must know the names of generated files before they read a model.
  public func source(
    of model: NSManagedObjectModel, file: String, lines: ModelSourceLines? = nil
  ) -> (contents: String, messages: [CodeGenerationMessage]) {
    var planner = ClassPlanner(model, file: file, lines: lines, options)
    let plans: [ClassPlan] = planner.plans()
    var text = SourceText()
    for plan in plans {
      let renderer = ClassRenderer(plan: plan, options: options, types: planner.types)
      text.gap()
      text.line("// MARK: - \(plan.name.reference)")
      text.gap()
      if plan.mode == .wholeClass {
        text.add(renderer.classDeclaration())
        text.gap()
      }
      text.add(renderer.members())
    }
    return (head(planner.imports(of: plans)) + (plans.isEmpty ? "" : text.text), planner.messages)
  }

  private func head(_ modules: [String]) -> String {
    let imports: [String] = ["CoreData", "Foundation"] + modules
    return """
      \(GeneratedFile.firstLine)

      \(imports.map { "import \($0)" }.joined(separator: "\n"))


      """
  }
}
