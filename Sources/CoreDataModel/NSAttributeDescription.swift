import CoreDataPredicates
import Foundation

/// An attribute: a named value of one type.
nonisolated open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
  // Sendable for the reason given at NSPropertyDescription: frozen before it is shared.

  /// The type of the values. Setting it also sets `attributeValueClassName` to the class of the type.
  open var attributeType: NSAttributeType = .undefinedAttributeType {
    willSet { mayChange() }
    didSet { explicitValueClassName = nil }
  }

  /// The modern spelling of ``attributeType``.
  open var type: AttributeType {
    get { AttributeType(rawValue: attributeType.rawValue) }
    set {
      guard let known = NSAttributeType(rawValue: newValue.rawValue) else {
        preconditionFailure(
          "\(newValue.rawValue) is no attribute type; use one of AttributeType's constants.")
      }
      attributeType = known
    }
  }

  /// The class of the values: the type's own, or the one named for a transformable attribute.
  open var attributeValueClassName: String? {
    get { explicitValueClassName ?? attributeType.valueClassName }
    set {
      mayChange()
      explicitValueClassName = newValue
    }
  }
  final var explicitValueClassName: String?

  /// The initial value of new objects.
  open var defaultValue: Any? { willSet { mayChange() } }

  /// The value transformer of a transformable attribute; nil means a secure keyed archive.
  open var valueTransformerName: String? { willSet { mayChange() } }

  /// Whether a store may keep large values in files beside itself. Enters the version hash.
  open var allowsExternalBinaryDataStorage: Bool = false { willSet { mayChange() } }

  /// Whether persistent history keeps the value of a deleted object. Enters the version hash.
  open var preservesValueInHistoryOnDeletion: Bool = false { willSet { mayChange() } }

  /// Kept for model files; there is no CloudKit off Apple's platforms.
  open var allowsCloudEncryption: Bool = false { willSet { mayChange() } }

  /// Whether generated code uses a scalar (`Int16`) instead of an object type. Known for source models only.
  package final var usesScalarValueType: Bool? { willSet { mayChange() } }

  override func makeEmptyCopy() -> NSPropertyDescription {
    NSAttributeDescription()
  }

  override func copyContents(into other: NSPropertyDescription) {
    super.copyContents(into: other)
    guard let other = other as? NSAttributeDescription else { return }
    other.attributeType = attributeType
    other.explicitValueClassName = explicitValueClassName
    other.defaultValue = defaultValue
    other.valueTransformerName = valueTransformerName
    other.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
    other.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
    other.allowsCloudEncryption = allowsCloudEncryption
    other.usesScalarValueType = usesScalarValueType
  }
}

extension NSAttributeDescription {
  /// Names of value transformers that denote the default, keyed archives. Some existing models contain the
  /// constants' names in place of their values.
  package static let archivingTransformers: Set<String> = [
    "NSKeyedUnarchiveFromData", "NSKeyedUnarchiveFromDataTransformerName",
    "NSSecureUnarchiveFromDataTransformerName",
  ]

  /// Whether a transformable attribute's value is kept as a keyed archive, as far as its transformer's name
  /// tells.
  package var isTransformedToArchive: Bool {
    guard let name = valueTransformerName, !name.isEmpty else { return true }
    return name == "NSSecureUnarchiveFromData" || Self.archivingTransformers.contains(name)
  }
}
