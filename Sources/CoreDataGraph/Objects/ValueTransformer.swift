import CoreDataArchives
import CoreDataModel
import CoreDataPredicates
import CoreDataRuntime
import Foundation

/// Transforms objects into data and back, for transformable attributes. Foundation on Linux has none.
///
/// Register a transformer under the name in the model; ``transformedValue(_:)`` is called when the
/// attribute's object is stored, and ``reverseTransformedValue(_:)`` when it is read.
///
/// See Apple's page
/// [ValueTransformer](https://developer.apple.com/documentation/foundation/valuetransformer).
nonisolated open class ValueTransformer: NSObject {
  /// `required`, so that an instance can be created for a class name in a model.
  public required override init() { super.init() }

  nonisolated(unsafe) private static var registered: [NSValueTransformerName: ValueTransformer] = [
    .secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer()
  ]
  // Guards `registered`.
  private static let lock = NSLock()

  /// Registers a transformer under a name. May be called on any thread, before objects with it are used.
  open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName)
  {
    lock.lock()
    defer { lock.unlock() }
    registered[name] = transformer
  }

  /// The transformer of that name; if a class has that name, an instance is created and registered.
  public static func named(_ name: NSValueTransformerName) -> ValueTransformer? {
    if let known = lock.withLock({ registered[name] }) { return known }
    let type: AnyClass? =
      NSClassFromString(name.rawValue)
      ?? TypeSearch.classes(named: name.rawValue, subclassOf: ValueTransformer.self).first?.type
    guard let type = type as? ValueTransformer.Type else { return nil }
    // Not under the lock: the program's initializer may register or look up transformers.
    let made: ValueTransformer = type.init()
    return lock.withLock {
      // Another thread, or the initializer itself, may have registered one meanwhile.
      let known: ValueTransformer = registered[name] ?? made
      registered[name] = known
      return known
    }
  }

  open class func valueTransformerNames() -> [NSValueTransformerName] {
    lock.lock()
    defer { lock.unlock() }
    return registered.keys.sorted { $0.rawValue < $1.rawValue }
  }

  open class func transformedValueClass() -> AnyClass { NSObject.self }
  open class func allowsReverseTransformation() -> Bool { false }
  open func transformedValue(_ value: Any?) -> Any? { value }
  open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }
}

/// Makes `ValueTransformer(forName:)` return the registered instance: only an initialiser in a protocol
/// extension may return another object than the one it was called on.
public protocol ValueTransformerLookup {}

extension ValueTransformer: ValueTransformerLookup {}

extension ValueTransformerLookup where Self: ValueTransformer {
  /// The transformer registered under a name, or created from the class of that name.
  public init?(forName name: NSValueTransformerName) {
    guard let known = ValueTransformer.named(name) as? Self else { return nil }
    self = known
  }
}

/// The name of a registered ``ValueTransformer``.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// Secure keyed archives; what Xcode writes into new models.
  public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName(
    "NSSecureUnarchiveFromData")
}

/// Secure keyed archives of property-list objects; a subclass allows more classes.
///
/// If the model names it, it is applied in reverse, as Apple's: storing archives, reading unarchives.
nonisolated open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
  public required init() { super.init() }

  /// The classes that may be at the top level of an archive.
  open class var allowedTopLevelClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
      NSURL.self, NSUUID.self, NSNull.self, NSOrderedSet.self,
    ]
  }

  open override class func allowsReverseTransformation() -> Bool { true }

  /// Data to object.
  open override func transformedValue(_ value: Any?) -> Any? {
    let allowed: [AnyClass] = type(of: self).allowedTopLevelClasses
    guard let data = value as? Data, let archive = try? KeyedArchive(data),
      archive.strangeClass(allowed: allowed) == nil
    else { return nil }
    return try? NSKeyedUnarchiver.unarchivedObject(ofClasses: allowed, from: data)
  }

  /// Object to data.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let value, Archivability.strangeType(in: value) == nil else { return nil }
    return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
  }
}

/// The data that a store keeps for a transformable attribute's object.
package enum Transformation {
  /// True for tools while they use the stores of any program: they have none of its transformers and classes,
  /// and the value of a transformable attribute is the data as it is stored.
  @TaskLocal package static var passesData: Bool = false

  static func data(from object: Any, attribute: NSAttributeDescription?) throws -> Data {
    if passesData, let data = object as? Data { return data }
    let label: String = "\(attribute?.entity?.name ?? "").\(attribute?.name ?? "")"
    guard let transformer = try transformer(attribute, label) else {
      if let type = Archivability.strangeType(in: object) {
        throw GraphError.transformation(
          "The value of \(label) (\(Swift.type(of: object))) can't be archived: it is, or holds, a \(type).",
          advice: "Give the attribute a value transformer, or make the class NSSecureCoding.")
      }
      do {
        let data: Data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        try refuseStrangeClass(in: data, of: label, NSSecureUnarchiveFromDataTransformer.self)
        return data
      } catch let error as GraphError {
        throw error
      } catch {
        throw GraphError.transformation(
          "The value of \(label) (\(type(of: object))) can't be archived: \(ErrorMessage.reason(of: error))",
          advice: "Give the attribute a value transformer, or make the class NSSecureCoding.")
      }
    }
    let made: Any? =
      transformer is NSSecureUnarchiveFromDataTransformer
      ? transformer.reverseTransformedValue(object) : transformer.transformedValue(object)
    guard let data = made as? Data else {
      throw GraphError.transformation(
        "The value transformer of \(label) made no data of a \(type(of: object))"
          + (transformer is NSSecureUnarchiveFromDataTransformer
            ? Archivability.strangeType(in: object).map {
              ": it is, or holds, a \($0), which is not NSSecureCoding."
            }
              ?? "." : "."),
        advice: "Let it return Data, and name that as its transformedValueClass().")
    }
    if let secure = transformer as? NSSecureUnarchiveFromDataTransformer {
      try refuseStrangeClass(in: data, of: label, type(of: secure))
    }
    return data
  }

  /// A value that can't be read again would be lost: report it before it is written, and before Foundation
  /// crashes on it.
  private static func refuseStrangeClass(
    in data: Data, of label: String, _ transformer: NSSecureUnarchiveFromDataTransformer.Type
  ) throws {
    guard let archive = try? KeyedArchive(data),
      let name = archive.strangeClass(allowed: transformer.allowedTopLevelClasses)
    else { return }
    throw GraphError.transformation(
      "The value of \(label) is, or holds, a \(name), which is not among the allowedTopLevelClasses of \(transformer), "
        + "so it can't be read again.",
      advice:
        "Register a subclass of NSSecureUnarchiveFromDataTransformer that allows the class, and name it in the model."
    )
  }

  static func object(from data: Data, attribute: NSAttributeDescription?) throws -> Any? {
    if passesData { return data }
    let label: String = "\(attribute?.entity?.name ?? "").\(attribute?.name ?? "")"
    guard let transformer = try transformer(attribute, label) else {
      do {
        try refuseStrangeClass(in: data, of: label, NSSecureUnarchiveFromDataTransformer.self)
        return try NSKeyedUnarchiver.unarchivedObject(
          ofClasses: NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses, from: data)
      } catch let error as GraphError {
        throw error
      } catch {
        throw GraphError.transformation(
          "The stored value of \(label) can't be unarchived: \(ErrorMessage.reason(of: error))",
          advice: "Register a value transformer that allows its classes.")
      }
    }
    return transformer is NSSecureUnarchiveFromDataTransformer
      ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
  }

  /// The attribute's transformer; nil for the default, a secure keyed archive.
  private static func transformer(
    _ attribute: NSAttributeDescription?, _ label: String
  ) throws -> ValueTransformer? {
    guard let name = attribute?.valueTransformerName, !name.isEmpty,
      !NSAttributeDescription.archivingTransformers.contains(name)
    else {
      return nil
    }
    guard let transformer = ValueTransformer.named(NSValueTransformerName(name)) else {
      throw GraphError.transformation(
        "\(label) names the value transformer '\(name)', which is not registered.",
        advice: "Call ValueTransformer.setValueTransformer(_:forName:) before the store is used.")
    }
    return transformer
  }
}
