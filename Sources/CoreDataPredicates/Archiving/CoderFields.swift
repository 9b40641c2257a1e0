import CoreDataArchives
import Foundation

/// The fields of the object that a Foundation coder is decoding, as Apple's systems archived it. The coder
/// has already decoded its parts, as objects of our classes.
struct CoderFields: ArchivedFields {
  let coder: NSCoder
  let className: String
  let progress: CoderArchive.Progress

  var label: String { PredicateArchive.label }
  var isStrict: Bool { true }

  func integer(_ key: String) throws -> Int? {
    coder.containsValue(forKey: key) ? coder.decodeInteger(forKey: key) : nil
  }

  func flag(_ key: String) throws -> Bool {
    coder.decodeBool(forKey: key)
  }

  func text(_ key: String) throws -> String? {
    guard coder.containsValue(forKey: key) else { return nil }
    return coder.decodeObject(of: [NSString.self], forKey: key) as? String
  }

  func value(_ key: String) throws -> PredicateValue {
    guard coder.containsValue(forKey: key) else { return .null }
    let value: Any? = coder.decodeObject(of: Self.valueClasses + (coder.allowedClasses ?? []), forKey: key)
    try progress.note(value: value)
    return PredicateValue(constant: value)
  }

  func part(_ key: String) throws -> any ArchivedScalars {
    try decode(ArchivedOperator.self, key)
  }

  func predicate(_ key: String) throws -> PredicateNode {
    try decode(Foundation.NSPredicate.self, key).predicateNode()
  }

  func predicates(_ key: String) throws -> [PredicateNode] {
    try decodeArray(of: Foundation.NSPredicate.self, key).map { $0.predicateNode() }
  }

  func expression(_ key: String) throws -> ExpressionNode {
    try decode(NSExpression.self, key).node
  }

  func expressions(_ key: String) throws -> [ExpressionNode] {
    try decodeArray(of: NSExpression.self, key).map(\.node)
  }

  private func decode<Part: NSObject>(_ type: Part.Type, _ key: String) throws -> Part {
    guard let part = coder.decodeObject(of: [type], forKey: key) as? Part else {
      throw PlistError("the part \(key) is missing or no \(type)")
    }
    return part
  }

  private func decodeArray<Part: NSObject>(of type: Part.Type, _ key: String) throws -> [Part] {
    guard let parts = coder.decodeObject(of: [NSArray.self, type], forKey: key) as? [Any] else {
      throw PlistError("the part \(key) is missing or no array")
    }
    return try parts.map { part in
      guard let part = part as? Part else {
        throw PlistError("the part \(key) holds something that is no \(type)")
      }
      return part
    }
  }

  /// The class of an archived expression, of which a coder has the number only. A key path is a call with
  /// the one argument that a specifier of key paths is.
  static func expressionClassName(_ coder: NSCoder) -> String {
    guard coder.containsValue(forKey: "NSExpressionType"),
      let kind = PredicateArchiveForm.Kind(rawValue: coder.decodeInteger(forKey: "NSExpressionType"))
    else { return "NSExpression" }
    if kind == .function, coder.containsValue(forKey: "NSSelectorName"),
      let selector = coder.decodeObject(of: [NSString.self], forKey: "NSSelectorName") as? String,
      PredicateArchiveForm.keyPathSelectors.contains(selector)
    {
      return PredicateArchiveForm.Kind.keyPath.className
    }
    return kind.className
  }

  /// The classes of constants. Decimal numbers are excluded: Foundation on Linux can neither decode nor hash
  /// them.
  private static let valueClasses: [AnyClass] = [
    NSString.self, NSNumber.self, NSDate.self, NSData.self, NSUUID.self, NSURL.self, NSNull.self,
    NSArray.self,
    NSSet.self, NSOrderedSet.self, NSDictionary.self,
  ]
}
