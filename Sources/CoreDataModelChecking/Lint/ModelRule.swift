/// What a model is checked for. The raw value is the code that messages end with and that is ignored by name;
/// `Documentation/lint.md` has a section for each. Codes are stable: a rule that changes its meaning gets
/// another one.
package enum ModelRule: String, CaseIterable, Sendable {
  // Names
  case entityName = "entity-name"
  case entityCase = "entity-case"
  case entityClash = "entity-clash"
  case propertyName = "property-name"
  case propertyClash = "property-clash"
  case reservedName = "reserved-name"
  case noAccessor = "no-accessor"
  case shadowedProperty = "shadowed-property"
  case predicateWord = "predicate-word"
  case swiftWord = "swift-word"
  case className = "class-name"
  case sharedClass = "shared-class"
  case hiddenType = "hidden-type"
  case renamingClash = "renaming-clash"
  case renamingExchange = "renaming-exchange"

  // Entities
  case parentOutsideModel = "parent-outside-model"
  case abstractLeaf = "abstract-leaf"
  case emptyEntity = "empty-entity"
  case isolatedEntity = "isolated-entity"

  // Attributes
  case propertyKind = "property-kind"
  case attributeType = "attribute-type"
  case derivation
  case composite
  case defaultType = "default-type"
  case defaultRange = "default-range"
  case defaultInvalid = "default-invalid"
  case crossedBounds = "crossed-bounds"
  case invalidPattern = "invalid-pattern"
  case settingWithoutEffect = "setting-without-effect"
  case noTransformer = "no-transformer"
  case insecureTransformer = "insecure-transformer"
  case optionalBoolean = "optional-boolean"
  case optionalScalar = "optional-scalar"

  // Relationships
  case destination
  case countBounds = "count-bounds"
  case noInverse = "no-inverse"
  case inverseMismatch = "inverse-mismatch"
  case noAction = "no-action"
  case nullifiedRequired = "nullified-required"
  case requiredUnsavable = "required-unsavable"
  case requiredSelf = "required-self"
  case denyBoth = "deny-both"
  case cascadeToOwner = "cascade-to-owner"
  case cascadeShared = "cascade-shared"

  // Constraints, indexes, requests, configurations
  case constraint
  case optionalConstraint = "optional-constraint"
  case index
  case doubtfulIndex = "doubtful-index"
  case emptyIndex = "empty-index"
  case wantedIndex = "wanted-index"
  case fetchRequest = "fetch-request"
  case doubtfulFetchRequest = "doubtful-fetch-request"
  case acrossConfigurations = "across-configurations"
  case unknownCode = "unknown-code"
  case unknownSetting = "unknown-setting"

  package var severity: ModelProblem.Severity {
    switch self {
    case .entityName, .entityClash, .propertyName, .propertyClash, .reservedName, .className,
      .shadowedProperty, .parentOutsideModel, .propertyKind, .attributeType, .derivation, .composite,
      .defaultType,
      .defaultRange, .crossedBounds, .invalidPattern, .destination, .countBounds, .inverseMismatch,
      .requiredUnsavable, .constraint, .index, .fetchRequest:
      .error
    case .entityCase, .noAccessor, .predicateWord, .sharedClass, .renamingClash, .renamingExchange,
      .abstractLeaf,
      .emptyEntity, .defaultInvalid, .settingWithoutEffect, .noTransformer, .insecureTransformer, .noInverse,
      .noAction,
      .nullifiedRequired, .requiredSelf, .denyBoth, .cascadeToOwner, .cascadeShared, .doubtfulIndex,
      .emptyIndex,
      .wantedIndex, .doubtfulFetchRequest, .acrossConfigurations, .unknownCode, .unknownSetting:
      .warning
    case .swiftWord, .hiddenType, .isolatedEntity, .optionalBoolean, .optionalScalar, .optionalConstraint:
      .note
    }
  }
}
