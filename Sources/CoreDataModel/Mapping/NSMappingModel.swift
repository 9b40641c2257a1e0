import Foundation

/// How a migration makes the objects of one version of a model out of those of another: one
/// ``NSEntityMapping`` for each entity that is added, removed, copied or transformed.
///
/// A mapping model is made in code, read from a file that Xcode wrote (`.cdm`, `.xcmappingmodel`), found
/// among the resources of bundles, or inferred from two models.
///
/// Thread use is that of ``NSPropertyMapping``.
/// Apple's page: <https://developer.apple.com/documentation/coredata/nsmappingmodel>
nonisolated open class NSMappingModel: NSObject, @unchecked Sendable {
  // Sendable for the reason given at NSPropertyMapping: frozen before it is shared.

  /// Whether a migration uses the mapping model, so that it can't change any more.
  final package internal(set) var isFrozen = false

  /// The `.cdm` or `.xcmappingmodel` that the mapping model was read from; nil for one that was inferred, or
  /// made in code. No part of what makes mapping models equal.
  final package internal(set) var file: URL?

  public override init() {
    super.init()
  }

  /// The entity mappings, in the order in which a migration processes them. Setting nil makes it empty.
  open var entityMappings: [NSEntityMapping]! {
    get { storedEntityMappings }
    set {
      requireEditableMapping(isFrozen, "The list of entity mappings")
      storedEntityMappings = newValue ?? []
    }
  }
  private final var storedEntityMappings: [NSEntityMapping] = []

  /// The entity mappings by name; the first of a name. Built anew on each call.
  open var entityMappingsByName: [String: NSEntityMapping] {
    Dictionary(storedEntityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  // MARK: Inference

  /// A mapping model for two versions that differ in nothing but what can be inferred; see
  /// ``MappingInference`` for what that is.
  ///
  /// Throws `CocoaError.inferredMappingModel` that lists every change that can't be inferred, with the reason
  /// and what to do; the single ones are under `NSDetailedErrorsKey`. Queue: any. Cost: linear in the models.
  /// Apple's page:
  /// <https://developer.apple.com/documentation/coredata/nsmappingmodel/inferredmappingmodel(forsourcemodel:destinationmodel:)>
  open class func inferredMappingModel(
    forSourceModel source: NSManagedObjectModel, destinationModel destination: NSManagedObjectModel
  ) throws -> NSMappingModel {
    try MappingInference(from: source, to: destination).mappingModel()
  }

  // MARK: Freezing and comparing

  /// Makes the mapping model and all its parts immutable. Called by a migration before it uses the model.
  package final func freeze() {
    guard !isFrozen else { return }
    for mapping in storedEntityMappings { mapping.freeze() }
    isFrozen = true
  }

  /// Mapping models are equal by content: equal entity mappings in the same order.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSMappingModel else { return false }
    return self === other || storedEntityMappings == other.storedEntityMappings
  }

  open override var hash: Int { storedEntityMappings.count }

  open override var description: String {
    "mapping model of " + storedEntityMappings.map { $0.name }.joined(separator: ", ")
  }
}
