import CoreDataModel
import Foundation

/// What is to be other about an attribute. What is not named here stays as it is: settings, user info,
/// comments.
package struct AttributeSettings: Sendable {
  /// What becomes of a setting.
  package enum Change: Sendable, Equatable {
    case asItIs, removed
    case given(String)

    package init(_ value: String?, isRemoved: Bool) {
      self = isRemoved ? .removed : value.map { .given($0) } ?? .asItIs
    }

    var value: String? { if case .given(let value) = self { value } else { nil } }
  }

  package var type: NSAttributeType?
  package var isOptional: Bool?
  package var isTransient: Bool?
  /// As text; of dates as ISO 8601 or seconds since 2001.
  package var defaultValue: Change = .asItIs
  package var minimum: Change = .asItIs
  package var maximum: Change = .asItIs
  package var pattern: Change = .asItIs
  package var valueTransformer: Change = .asItIs
  package var allowsExternalStorage: Bool?
  /// Whether a fetch index has this attribute alone.
  package var isIndexed: Bool?
  /// Whether a uniqueness constraint has this attribute alone.
  package var isUnique: Bool?
  /// The name that it had in earlier versions.
  package var renamingIdentifier: Change = .asItIs

  package init() {}

  /// Whether everything is to stay.
  package var isEmpty: Bool {
    isOfAnyProperty && isOptional == nil && isTransient == nil && renamingIdentifier == .asItIs
  }

  /// Whether nothing is given that relationships do not have.
  var isOfAnyProperty: Bool {
    type == nil && isIndexed == nil && isUnique == nil && allowsExternalStorage == nil
      && [defaultValue, minimum, maximum, pattern, valueTransformer].allSatisfy { $0 == .asItIs }
  }

  /// Changes an attribute.
  ///
  /// - Throws: what `failure` makes of a reason: for a setting that the type can't have, given or left from
  ///   the type before.
  func apply(to element: inout SourceElement, _ failure: (String) -> ModelFileError) throws {
    let name: String = element["name"] ?? ""
    let old: NSAttributeType? = element["attributeType"].flatMap { NewAttribute.type(named: $0) }
    guard let new = type ?? old else {
      throw failure(
        "'\(name)' is of type \(element["attributeType"] ?? ""), which can't be changed here; edit the file.")
    }
    try requireFitting(new, name, failure)
    if type != nil, old != new {
      try convert(&element, from: old, to: new, failure)
    }
    setFlags(of: &element)
    let isDate: Bool = new == .dateAttributeType
    for (change, word) in [(minimum, "min"), (maximum, "max"), (defaultValue, "default")] {
      let key: String = isDate ? "\(word)DateTimeInterval" : "\(word)ValueString"
      switch change {
      case .asItIs: break
      case .removed: element.set(key, nil)
      case .given(let text): element.set(key, isDate ? try Self.seconds(text, failure) : text)
      }
    }
    Self.set(pattern, "regularExpressionString", &element)
    if valueTransformer == .removed {
      element.set("valueTransformerName", AttributeKind(new).standardTransformer)
    } else {
      Self.set(valueTransformer, "valueTransformerName", &element)
    }
  }

  /// What every property has.
  func setFlags(of element: inout SourceElement) {
    for (flag, key) in [
      (isOptional, "optional"), (isTransient, "transient"),
      (allowsExternalStorage, "allowsExternalBinaryDataStorage"),
    ] {
      if let flag { element.set(key, flag ? "YES" : nil) }
    }
    Self.set(renamingIdentifier, "elementID", &element)
  }

  private static func set(_ change: Change, _ key: String, _ element: inout SourceElement) {
    if change != .asItIs { element.set(key, change.value) }
  }

  // MARK: Types

  private func requireFitting(
    _ type: NSAttributeType, _ name: String, _ failure: (String) -> ModelFileError
  ) throws {
    let given: [(String, Bool, Set<NSAttributeType>)] = [
      ("a default value", defaultValue.value != nil, AttributeKind.withDefault),
      ("a minimum", minimum.value != nil, AttributeKind.bounded),
      ("a maximum", maximum.value != nil, AttributeKind.bounded),
      ("a pattern", pattern.value != nil, [.stringAttributeType]),
      ("a value transformer", valueTransformer.value != nil, AttributeKind.transformed),
      ("external storage", allowsExternalStorage == true, AttributeKind.external),
    ]
    for (setting, isGiven, types) in given where isGiven && !types.contains(type) {
      let names: String = NewAttribute.typesByName.filter { types.contains($0.type) }.map(\.name)
        .prefix(types.count).joined(separator: ", ")
      throw failure(
        "'\(name)' is of type \(type.editorName), which can't have \(setting); only these have: \(names).")
    }
  }

  /// Gives an attribute another type. What it has and the new type can't have would be lost without a word.
  private func convert(
    _ element: inout SourceElement, from old: NSAttributeType?, to new: NSAttributeType,
    _ failure: (String) -> ModelFileError
  ) throws {
    let kind = AttributeKind(new)
    let former: AttributeKind? = old.map { AttributeKind($0) }
    let keepsValues: Bool = former.map(kind.hasValues) ?? false
    var lost: [(what: String, cure: String?)] = []
    func lose(_ key: String, _ what: String, _ change: Change, _ cure: String?) {
      if let value = element[key], change == .asItIs { lost.append(("\(what) '\(value)'", cure)) }
    }
    var hadDefault = false
    for (change, word, what) in [
      (minimum, "min", "the minimum"), (maximum, "max", "the maximum"),
      (defaultValue, "default", "the default value"),
    ] {
      for key in ["\(word)ValueString", "\(word)DateTimeInterval"] {
        if word == "default", element[key] != nil { hadDefault = true }
        if !keepsValues {
          lose(key, what, change, "--no-\(word)")
          element.set(key, nil)
        } else if change == .asItIs, let value = element[key], let text = Self.text(value, for: kind) {
          element.set(key, text)
        } else {
          lose(key, what, change, "--no-\(word)")
        }
      }
    }
    if new != .stringAttributeType {
      lose("regularExpressionString", "the pattern", pattern, "--no-pattern")
      element.set("regularExpressionString", nil)
    }
    if new == .transformableAttributeType {
      if element["valueTransformerName"] == nil {
        element.set("valueTransformerName", kind.standardTransformer)
      }
    } else {
      if element["valueTransformerName"] != former?.standardTransformer {
        lose("valueTransformerName", "the value transformer", valueTransformer, "--no-transformer")
      }
      element.set("valueTransformerName", nil)
      lose("customClassName", "the class", .asItIs, nil)
    }
    if !AttributeKind.external.contains(new), element["allowsExternalBinaryDataStorage"] == "YES" {
      if allowsExternalStorage == nil { lost.append(("its external storage", "--no-external")) }
      element.set("allowsExternalBinaryDataStorage", nil)
    }
    lose("composite", "the composite", .asItIs, nil)
    if !lost.isEmpty { throw failure(Self.objection(lost, element["name"] ?? "", new)) }
    element.set("attributeType", new.editorName)
    if !keepsValues || former?.standardScalar == nil || kind.standardScalar == nil {
      element.set("usesScalarValueType", kind.standardScalar)
    }
    if !keepsValues, !hadDefault, element["derived"] != "YES" {
      let isOptional: Bool = isOptional ?? (element["optional"] == "YES")
      element.set("defaultValueString", kind.standardDefault(isOptional: isOptional))
    }
  }

  /// A number as a type writes it; nil if it is none of the type.
  private static func text(_ value: String, for kind: AttributeKind) -> String? {
    if !kind.isInteger || Int64(value) != nil { return value }
    return Double(value).flatMap { Int64(exactly: $0) }.map { "\($0)" }
  }

  private static func objection(
    _ lost: [(what: String, cure: String?)], _ name: String, _ type: NSAttributeType
  ) -> String {
    let cures: [String] = lost.compactMap(\.cure)
    let inFile: String = cures.count == lost.count ? "" : " What has no such option, take out of the file."
    return "As \(type.editorName), '\(name)' would lose \(lost.map(\.what).joined(separator: ", ")). "
      + (cures.isEmpty
        ? ""
        : "Take away what is not to stay with \(cures.joined(separator: ", ")), or give a value that fits the type.")
      + inFile
  }

  private static func seconds(_ text: String, _ failure: (String) -> ModelFileError) throws -> String {
    if Double(text)?.isFinite == true { return text }
    let format = ISO8601DateFormatter()
    for options: ISO8601DateFormatter.Options in [.withFullDate, .withInternetDateTime] {
      format.formatOptions = options
      // A day with something behind it is no day.
      if let date = format.date(from: text), options != .withFullDate || text.utf8.count == 10 {
        return "\(Int64(date.timeIntervalSinceReferenceDate))"
      }
    }
    throw failure(
      "'\(text)' is no date: write 2026-12-01, 2026-12-01T09:30:00Z, or the seconds since 2001.")
  }
}
