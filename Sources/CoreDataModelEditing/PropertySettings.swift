import CoreDataModel
import Foundation

/// What is to be other about an attribute or a relationship. What is not named here stays as it is: settings,
/// user info, comments.
package struct PropertySettings: Sendable {
  /// What becomes of a setting.
  package enum Change: Sendable, Equatable {
    case asItIs, removed
    case given(String)

    package init(_ value: String?, isRemoved: Bool) {
      self = isRemoved ? .removed : value.map { .given($0) } ?? .asItIs
    }

    var value: String? { if case .given(let value) = self { value } else { nil } }

    func apply(_ key: String, to element: inout SourceElement) {
      if self != .asItIs { element.set(key, value) }
    }
  }

  /// A new name.
  package var name: String?
  package var type: NSAttributeType?
  package var isOptional: Bool?
  package var isTransient: Bool?
  /// As text; of dates as ISO 8601 or seconds since 2001.
  package var defaultValue: Change = .asItIs
  /// Of a relationship the least number of objects.
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
  package var hashModifier: Change = .asItIs

  // Of relationships.
  package var isToMany: Bool?
  package var isOrdered: Bool?
  package var deleteRule: NSDeleteRule?
  /// The relationship of the destination that leads back.
  package var inverse: Change = .asItIs

  package init() {}

  /// Whether everything is to stay.
  package var isEmpty: Bool {
    name == nil && isOptional == nil && isTransient == nil && renamingIdentifier == .asItIs
      && hashModifier == .asItIs && minimum == .asItIs && maximum == .asItIs && ofAttributes.isEmpty
      && ofRelationships.isEmpty
  }

  /// The options of what is given and attributes alone have.
  private var ofAttributes: [String] {
    let given: [(String, Bool)] = [
      ("a type", type != nil), ("--default", defaultValue != .asItIs), ("--pattern", pattern != .asItIs),
      ("--transformer", valueTransformer != .asItIs), ("--external", allowsExternalStorage != nil),
      ("--indexed", isIndexed != nil), ("--unique", isUnique != nil),
    ]
    return given.filter(\.1).map(\.0)
  }

  /// The options of what is given and relationships alone have.
  private var ofRelationships: [String] {
    let given: [(String, Bool)] = [
      ("--to-many, --to-one", isToMany != nil), ("--ordered", isOrdered != nil),
      ("--rule", deleteRule != nil), ("--inverse", inverse != .asItIs),
    ]
    return given.filter(\.1).map(\.0)
  }

  // MARK: Relationships

  /// Changes a relationship, but for its name and its inverse.
  ///
  /// - Throws: what `failure` makes of a reason: for what relationships don't have, and for what a to-one
  ///   relationship would lose.
  func apply(
    toRelationship element: inout SourceElement, _ label: String, _ failure: (String) -> ModelFileError
  ) throws {
    guard ofAttributes.isEmpty else {
      throw failure(
        "\(label) is a relationship, which can't have \(ofAttributes.joined(separator: ", ")). Of relationships "
          + "--optional, --required, --transient, --to-many, --to-one, --min, --max, --ordered, --rule, --inverse, "
          + "--hash-modifier, --rename and --renamed-from can be set.")
    }
    setFlags(of: &element)
    let isMany: Bool = isToMany ?? (element["toMany"] == "YES")
    let wasMany: Bool = element["toMany"] == "YES"
    if let isOrdered, !(isOrdered && !isMany) { element.set("ordered", isOrdered ? "YES" : nil) }
    var counts: [(change: Change, key: String, option: String)] = [
      (minimum, "minCount", "min"), (maximum, "maxCount", "max"),
    ]
    guard isMany else {
      if isOrdered == true || counts.contains(where: { $0.change.value != nil }) {
        throw failure(
          "\(label) leads to one object at most: --ordered, --min and --max belong to a to-many relationship; add "
            + "--to-many.")
      }
      var lost: [String] = []
      if wasMany {
        counts = counts.filter { element[$0.key] != nil && $0.change == .asItIs }
        lost = counts.map { "--no-\($0.option)" } + (element["ordered"] == "YES" ? ["--no-ordered"] : [])
      }
      if !lost.isEmpty {
        throw failure(
          "\(label) would lose its order or its counts as a to-one relationship. Take away what is not to stay with "
            + "\(lost.joined(separator: ", ")).")
      }
      element.set("toMany", nil)
      if wasMany { element.set("minCount", nil) }
      element.set("maxCount", "1")
      if let deleteRule { element.set("deletionRule", deleteRule.editorName) }
      return
    }
    if !wasMany {
      element.set("toMany", "YES")
      // That of one object.
      element.set("maxCount", nil)
    }
    for (change, key, option) in counts {
      if let text = change.value, Int(text).map({ $0 < 0 }) ?? true {
        throw failure("--\(option): '\(text)' is no number of objects.")
      }
      change.apply(key, to: &element)
    }
    if let deleteRule { element.set("deletionRule", deleteRule.editorName) }
  }

  // MARK: Attributes

  /// Changes an attribute.
  ///
  /// - Throws: what `failure` makes of a reason: for a setting that the type can't have, given or left from
  ///   the type before.
  func apply(to element: inout SourceElement, _ failure: (String) -> ModelFileError) throws {
    let name: String = element["name"] ?? ""
    guard ofRelationships.isEmpty else {
      throw failure(
        "'\(name)' is an attribute, which can't have \(ofRelationships.joined(separator: ", ")): those belong to "
          + "relationships.")
    }
    try requireStored(element, name, failure)
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
    pattern.apply("regularExpressionString", to: &element)
    if valueTransformer == .removed {
      element.set("valueTransformerName", AttributeKind(new).standardTransformer)
    } else {
      valueTransformer.apply("valueTransformerName", to: &element)
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
    renamingIdentifier.apply("elementID", to: &element)
    hashModifier.apply("versionHashModifier", to: &element)
  }

  // MARK: Types

  /// Of a derived attribute the store makes the values.
  private func requireStored(
    _ element: SourceElement, _ name: String, _ failure: (String) -> ModelFileError
  ) throws {
    guard element["derived"] == "YES" else { return }
    let given: [(String, Bool)] = [
      ("--required", isOptional == false), ("--default", defaultValue.value != nil),
      ("--min", minimum.value != nil), ("--max", maximum.value != nil), ("--pattern", pattern.value != nil),
      ("--transient", isTransient == true),
    ]
    let without: [String] = given.filter(\.1).map(\.0)
    if !without.isEmpty {
      throw failure(
        "'\(name)' is derived (\(element["derivationExpression"] ?? "")), so that the store makes its value and "
          + "\(without.joined(separator: ", ")) would mean nothing; leave that out, or set it of what it is derived "
          + "from.")
    }
  }

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
      if let value = element[key], change == .asItIs {
        lost.append(("\(what) '\(SecondsText.told(value, key))'", cure))
      }
    }
    for (change, word, what) in [
      (minimum, "min", "the minimum"), (maximum, "max", "the maximum"),
      (defaultValue, "default", "the default value"),
    ] {
      for key in ["\(word)ValueString", "\(word)DateTimeInterval"] {
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

/// Dates as the format has them: as seconds since 2001.
enum SecondsText {
  /// The value of an attribute of an element for messages: a date as ISO 8601, anything else as it stands.
  static func told(_ value: String, _ name: String) -> String {
    guard name.hasSuffix("DateTimeInterval"), let seconds = Double(value) else { return value }
    return DateWords.text(seconds: seconds) ?? value
  }
}
