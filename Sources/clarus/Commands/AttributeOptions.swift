import ArgumentParser
import CoreDataModel
import CoreDataModelEditing
import CoreDataPredicates

/// What `clarus model add MODEL attribute` and `clarus model set` say of an attribute.
struct AttributeOptions: ParsableArguments {
  enum Need: String, EnumerableFlag {
    case required, optional

    static func help(for value: Need) -> ArgumentHelp? {
      switch value {
      case .required: "Objects can't be saved without a value."
      case .optional: "They can."
      }
    }
  }

  @Flag(exclusivity: .exclusive) var need: Need?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The value of new objects. Dates: 2026-12-01, or seconds since 2001.", valueName: "value"))
  var `default`: String?

  @Flag(name: .long, help: "New objects have no value.") var noDefault = false

  @Option(name: .long, help: ArgumentHelp("The least value; of a text the least length.", valueName: "value"))
  var min: String?

  @Flag(name: .long, help: "There is no least value.") var noMin = false

  @Option(
    name: .long, help: ArgumentHelp("The greatest value; of a text the greatest length.", valueName: "value"))
  var max: String?

  @Flag(name: .long, help: "There is no greatest value.") var noMax = false

  @Option(
    name: .long, help: ArgumentHelp("The regular expression that a text matches.", valueName: "pattern"))
  var pattern: String?

  @Flag(name: .long, help: "A text matches no regular expression.") var noPattern = false

  @Flag(name: .long, inversion: .prefixedNo, help: "It is not stored.")
  var transient: Bool?

  @Flag(name: .long, inversion: .prefixedNo, help: "Adds, or removes, a fetch index over it alone.")
  var indexed: Bool?

  @Flag(name: .long, inversion: .prefixedNo, help: "Adds, or removes, a uniqueness constraint on it alone.")
  var unique: Bool?

  @Flag(name: .long, inversion: .prefixedNo, help: "Large binary values are files beside the store.")
  var external: Bool?

  @Option(name: .long, help: ArgumentHelp("The value transformer of a Transformable.", valueName: "name"))
  var transformer: String?

  @Flag(name: .long, help: "The value transformer is the standard one.") var noTransformer = false

  @Option(
    name: .long,
    help: ArgumentHelp("The name that it had in the earlier version, for migrations.", valueName: "name"))
  var renamedFrom: String?

  @Flag(name: .long, help: "It had no other name.") var noRenamedFrom = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A text in its version hash, so that stores are migrated although nothing else of it changes.",
      valueName: "text"))
  var hashModifier: String?

  @Flag(name: .long, help: "There is no such text.") var noHashModifier = false

  /// - Throws: `ValidationError` for options that contradict each other, and for empty texts.
  func check() throws {
    for (name, value, isRemoved) in [
      ("default", self.default, noDefault), ("min", min, noMin), ("max", max, noMax),
      ("pattern", pattern, noPattern), ("transformer", transformer, noTransformer),
      ("renamed-from", renamedFrom, noRenamedFrom), ("hash-modifier", hashModifier, noHashModifier),
    ] where value != nil && isRemoved {
      throw ValidationError("--\(name) and --no-\(name) contradict each other; leave one out.")
    }
    for (name, value) in [
      ("pattern", pattern), ("transformer", transformer), ("renamed-from", renamedFrom),
      ("hash-modifier", hashModifier),
    ] where value?.isEmpty == true {
      throw ValidationError("--\(name) is empty: write a text, or take away what there is with --no-\(name).")
    }
  }

  var settings: PropertySettings {
    var settings = PropertySettings()
    settings.isOptional = need.map { $0 == .optional }
    settings.isTransient = transient
    settings.defaultValue = PropertySettings.Change(self.default, isRemoved: noDefault)
    settings.minimum = PropertySettings.Change(min, isRemoved: noMin)
    settings.maximum = PropertySettings.Change(max, isRemoved: noMax)
    settings.pattern = PropertySettings.Change(pattern, isRemoved: noPattern)
    settings.valueTransformer = PropertySettings.Change(transformer, isRemoved: noTransformer)
    settings.allowsExternalStorage = external
    (settings.isIndexed, settings.isUnique) = (indexed, unique)
    settings.renamingIdentifier = PropertySettings.Change(renamedFrom, isRemoved: noRenamedFrom)
    settings.hashModifier = PropertySettings.Change(hashModifier, isRemoved: noHashModifier)
    return settings
  }

  /// - Throws: `ValidationError` with the types that there are.
  static func type(named name: String) throws -> NSAttributeType {
    if let known = NewAttribute.type(named: name) { return known }
    let known: [String] = NewAttribute.typesByName.map(\.name)
    throw ValidationError(
      "There is no type '\(name)'. "
        + (NearestNames.of(name, among: known).isEmpty
          ? "The types are \(known.joined(separator: ", "))." : NearestNames.advice(for: name, among: known)))
  }
}
