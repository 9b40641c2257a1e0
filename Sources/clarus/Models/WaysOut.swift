import CoreDataMigration
import CoreDataModel
import CoreDataModelEditing
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
        let title: String = "Ways out for \(entity).\(attribute):"
        let byMapping: String =
          "  a mapping model with a value for it: \(mapping) --value \(Self.quoted("\(entity).\(attribute)=EXPRESSION")); then --mapping"
        if step.isDown {
          return [
            title, "  the store before its migration, if it was kept (--keep-original): put that file back",
            "\(byMapping) in place of --down",
          ]
        }
        let isDate: Bool =
          destination.entitiesByName[entity]?.attributesByName[attribute]?.attributeType == .dateAttributeType
        guard let command = setCommand("\(entity).\(attribute)", step) else {
          let key: String = isDate ? "defaultDateTimeInterval=\"0\"" : "defaultValueString=\"…\""
          return [
            title, "  a default value: \(key) of the attribute in \(place(step))",
            "  optional: optional=\"YES\" of the attribute there", byMapping,
          ]
        }
        return [
          title, "  a default value: \(command) --default \(isDate ? "2001-01-01" : "VALUE")",
          "  optional: \(command) --optional", byMapping,
        ]
      }
    }
  }

  /// The beginning of the command that changes the attribute; nil if there is no source to change.
  private func setCommand(_ attribute: String, _ step: MigrationPlan.Step) -> String? {
    guard let source = try? SourcePackage(at: URL(fileURLWithPath: path)) else { return nil }
    let command: String = "clarus model set \(Self.quoted(path)) \(Self.quoted(attribute))"
    if source.versions.isEmpty { return command }
    guard source.versions.contains(step.destination) else { return nil }
    return "\(command) --model-version \(Self.quoted(step.destination))"
  }

  /// The file in which the attribute is changed.
  private func place(_ step: MigrationPlan.Step) -> String {
    guard let file = destination.file, file.path.contains(".xcdatamodel") else {
      return "the source of version '\(step.destination)'"
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
