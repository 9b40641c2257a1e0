import CoreDataModel
import CoreDataPredicates
import Foundation

/// Each check is a function that reports into `found`.
struct ModelLint {
  let model: NSManagedObjectModel
  let severity: ModelProblem.Severity
  let ignored: Set<String>
  private(set) var found: [ModelProblem] = []

  init(_ model: NSManagedObjectModel, downTo severity: ModelProblem.Severity, ignoring ignored: Set<String>) {
    self.model = model
    self.severity = severity
    self.ignored = ignored
  }

  var entities: [NSEntityDescription] {
    model.storedEntities.sorted { ($0.name ?? "") < ($1.name ?? "") }
  }

  mutating func run() -> [ModelProblem] {
    checkEntityNames()
    checkExchanges()
    checkClasses()
    let reached: Set<ObjectIdentifier> = reachedEntities()
    for entity in entities {
      checkEntity(entity, isReached: reached.contains(ObjectIdentifier(entity)))
      for property in entity.ownProperties.sorted(by: { $0.name < $1.name }) { check(property, of: entity) }
      checkConstraints(entity)
      checkIndexes(entity)
    }
    checkTemplates()
    checkConfigurations()
    return found
  }

  // MARK: Reporting

  mutating func report(
    _ rule: ModelRule, _ entity: NSEntityDescription?, _ part: String?, _ message: String
  ) {
    guard rule.severity >= severity, !isIgnored(rule, entity, part) else { return }
    found.append(
      ModelProblem(
        severity: rule.severity, code: rule.rawValue, entity: entity?.name, part: part, message: message))
  }

  private func isIgnored(_ rule: ModelRule, _ entity: NSEntityDescription?, _ part: String?) -> Bool {
    if Self.names(ignored, rule) { return true }
    guard let entity else { return false }
    if let codes = Self.ignoredCodes(entity.userInfo), Self.names(codes, rule) { return true }
    guard let name = part?.split(separator: ".").first else { return false }
    return entity.ownProperties.contains { property in
      property.name == name && Self.ignoredCodes(property.userInfo).map { Self.names($0, rule) } == true
    }
  }

  private static func names(_ codes: Set<String>, _ rule: ModelRule) -> Bool {
    codes.contains(rule.rawValue) || codes.contains("*")
  }

  private static func ignoredCodes(_ userInfo: [AnyHashable: Any]?) -> Set<String>? {
    guard let text = userInfo?[ModelProblem.ignoringKey] as? String else { return nil }
    return Set(text.split { $0 == "," || $0.isWhitespace }.map(String.init))
  }

  /// A misspelled code would ignore nothing, and nobody would see why.
  mutating func checkIgnoredCodes(
    _ userInfo: [AnyHashable: Any]?, _ entity: NSEntityDescription, _ part: String?
  ) {
    let unknown: Set<String> = (Self.ignoredCodes(userInfo) ?? []).subtracting(ModelProblem.codes + ["*"])
    for code in unknown.sorted() {
      report(
        .unknownCode, entity, part,
        "\(ModelProblem.ignoringKey) names '\(code)', which is the code of no rule; correct or remove it")
    }
  }

  /// The keys of user infos that mean something.
  private static let settings: Set<String> = [
    ModelProblem.ignoringKey, "clarus.accessor", "clarus.type", "clarus.cases", "clarus.exactDecimals",
  ]

  /// A misspelled key sets nothing, and nobody would see why.
  mutating func checkSettings(
    _ userInfo: [AnyHashable: Any]?, _ entity: NSEntityDescription, _ part: String?
  ) {
    let keys: [String] = (userInfo ?? [:]).keys.compactMap { $0 as? String }
    for key in keys.sorted() where key.hasPrefix("clarus.") && !Self.settings.contains(key) {
      report(
        .unknownSetting, entity, part,
        "the user info has '\(key)', which means nothing; the keys are \(Self.settings.sorted().joined(separator: ", "))"
      )
    }
  }

  /// A letter or underscore, then letters, digits and underscores; any script.
  static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, first == "_" || first.properties.isAlphabetic else {
      return false
    }
    return name.unicodeScalars.allSatisfy {
      $0 == "_" || $0.properties.isAlphabetic || $0.properties.numericType != nil
    }
  }
}
