import CoreDataMigration
import CoreDataModel
import Foundation

/// What may give a required attribute its values in a migration, as commands and as what is to be written
/// into the model.
struct WaysOut {
  private let plan: MigrationPlan
  /// As `--to` names it.
  private let path: String
  private let destination: NSManagedObjectModel

  init(_ plan: MigrationPlan, to path: String, _ destination: NSManagedObjectModel) {
    (self.plan, self.path, self.destination) = (plan, path, destination)
  }

  /// None if no value is missing.
  func lines(store: String) -> [String] {
    plan.steps.filter(\.isUnfinished).flatMap { step in
      let mapping: String = mappingCommand(step, store: store)
      return step.lackingValues.flatMap { entity, attribute -> [String] in
        let isDate: Bool =
          destination.entitiesByName[entity]?.attributesByName[attribute]?.attributeType == .dateAttributeType
        let key: String = isDate ? "defaultDateTimeInterval=\"0\"" : "defaultValueString=\"…\""
        return [
          "Ways out for \(entity).\(attribute):",
          "  a default value: \(key) of the attribute in \(place(step)); `clarus model add` has --default",
          "  optional: optional=\"YES\" of the attribute there",
          "  a mapping model with a value expression for it: \(mapping); then --mapping",
        ]
      }
    }
  }

  /// The file in which the attribute is changed.
  private func place(_ step: MigrationPlan.Step) -> String {
    guard let file = destination.file, file.path.contains(".xcdatamodel") else {
      return "the source of version \"\(step.destination)\""
    }
    return file.lastPathComponent == "contents"
      ? file.relativePath : file.appendingPathComponent("contents").relativePath
  }

  private func mappingCommand(_ step: MigrationPlan.Step, store: String) -> String {
    let hashes: [String: Data] = step.sourceModel.entityVersionHashesByName
    let known: ModelVersion? = (try? ModelArgument.versions(at: path))?.first {
      $0.model.entityVersionHashesByName == hashes
    }
    let new: String = "--to \(Self.quoted(step.destination))"
    // Of a model that only the store has there is no source that a source of a mapping model could name.
    return known.map { version in
      "clarus model mapping \(Self.quoted(path)) --from \(Self.quoted(version.name)) \(new) --output Step.xcmappingmodel"
    } ?? "clarus model mapping \(Self.quoted(store)) \(Self.quoted(path)) \(new) --output Step.cdm"
  }

  /// For a shell.
  private static func quoted(_ text: String) -> String {
    let isPlain: Bool =
      !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "./_-".contains($0)) }
    return isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
  }
}
