/// What the body of a member with `@NSManaged` does.
package enum MemberRole: Hashable, Sendable {
  case value(key: String)
  /// `primitiveTitle`; the key is `title`.
  case primitive(key: String, accessor: String)
  case mutableSet(key: String)
  case mutableOrderedSet(key: String)
  case add(key: String, isCollection: Bool)
  case remove(key: String, isCollection: Bool)
  case intersect(key: String)
  case insert(key: String, isCollection: Bool)
  case removeAt(key: String, isCollection: Bool)
  case replace(key: String, isCollection: Bool)

  /// The role of a member, or why it has none.
  ///
  /// - Parameter properties: the names of the managed properties of the class, which decide whether
  ///   `addToURLs(_:)` is about `URLs` or `uRLs`.
  static func role(of member: ManagedMember, properties: Set<String>) -> Result<MemberRole, Unplaced> {
    switch member.form {
    case .property(let type): .success(property(member, type))
    case .method(let parameters, let result):
      if result != nil, result?.text != "Void", result?.text != "()" {
        .failure(Unplaced("it returns a value, which no method that Core Data makes does here"))
      } else {
        method(member, parameters, properties).map { .success($0) }
          ?? .failure(
            Unplaced("its name isn't one of the methods that Core Data makes for to-many relationships"))
      }
    }
  }

  struct Unplaced: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  private static func property(_ member: ManagedMember, _ type: TypeText) -> MemberRole {
    let key: String = member.objectiveCName ?? member.name
    if key.hasPrefix("primitive"), let first = key.dropFirst(9).first, first.isUppercase || first == "_" {
      return .primitive(key: decapitalized(key.dropFirst(9)), accessor: key)
    }
    switch type.unwrapped.text {
    case "NSMutableSet": return .mutableSet(key: key)
    case "NSMutableOrderedSet": return .mutableOrderedSet(key: key)
    default: return .value(key: key)
    }
  }

  /// The selectors that Core Data implements, as `@objc(…)` gives them or as Swift's names translate to.
  private static func method(
    _ member: ManagedMember, _ parameters: [ManagedMember.Parameter], _ properties: Set<String>
  ) -> MemberRole? {
    let isCollection: [Bool] = parameters.map { Self.isCollection($0.type) }
    let isIndexes: [Bool] = parameters.map { $0.type.unwrapped.text.hasSuffix("IndexSet") }
    func key(_ word: Substring) -> String? {
      guard let first = word.first, first.isUppercase || first == "_" else { return nil }
      let whole = String(word)
      let small: String = decapitalized(word)
      if properties.contains(small) { return small }
      // A key may begin with a capital: `URLs`.
      return properties.contains(whole) ? whole : small
    }
    func between(_ prefix: String, _ suffix: String, _ text: String) -> Substring? {
      guard text.hasPrefix(prefix), text.hasSuffix(suffix), text.count > prefix.count + suffix.count else {
        return nil
      }
      return text.dropFirst(prefix.count).dropLast(suffix.count)
    }
    let selector: String = member.objectiveCName ?? ""
    let name: String = member.name
    switch parameters.count {
    case 1:
      if isIndexes[0] {
        let word: Substring? =
          between("remove", "AtIndexes:", selector) ?? between("removeFrom", "", name)
          ?? between("remove", "AtIndexes", name)
          ?? (label(parameters[0], "at") ? between("remove", "", name) : nil)
        return word.flatMap { key($0) }.map { .removeAt(key: $0, isCollection: true) }
      }
      if isInteger(parameters[0].type) {
        let word: Substring? =
          between("removeObjectFrom", "AtIndex:", selector) ?? between("removeObjectFrom", "AtIndex", name)
          ?? between("removeObjectFrom", "", name)
          ?? (label(parameters[0], "at") ? between("removeFrom", "", name) : nil)
        return word.flatMap { key($0) }.map { .removeAt(key: $0, isCollection: false) }
      }
      let many: Bool = isCollection[0]
      if let word = between("addTo", "", name) ?? between("add", "Object:", selector) {
        return key(word).map { .add(key: $0, isCollection: many) }
      }
      if let word = between("removeFrom", "", name) ?? between("remove", "Object:", selector) {
        return key(word).map { .remove(key: $0, isCollection: many) }
      }
      if let word = between("intersect", "", name) { return key(word).map { .intersect(key: $0) } }
      if let word = between("add", "Object", name) ?? between("add", ":", selector)
        ?? between("add", "", name)
      {
        return key(word).map { .add(key: $0, isCollection: many) }
      }
      if let word = between("remove", "Object", name) ?? between("remove", ":", selector)
        ?? between("remove", "", name)
      {
        return key(word).map { .remove(key: $0, isCollection: many) }
      }
      return nil
    case 2:
      if name.hasPrefix("replace") {
        // The place comes first.
        let word: Substring? =
          between("replaceObjectIn", "AtIndex", name) ?? between("replaceObjectIn", "", name)
          ?? between("replace", "AtIndexes", name) ?? between("replace", "", name)
        guard isIndexes[0] || isInteger(parameters[0].type), isIndexes[0] == isCollection[1] else {
          return nil
        }
        return word.flatMap { key($0) }.map { .replace(key: $0, isCollection: isIndexes[0]) }
      }
      guard name.hasPrefix("insert"), isIndexes[1] || isInteger(parameters[1].type),
        isIndexes[1] == isCollection[0]
      else { return nil }
      var word: Substring? = between("insertInto", "", name)
      if word == nil, name == "insertObject", let label = parameters[1].label {
        // insertObject(_:inItemsAtIndex:)
        word = between("in", "AtIndex", label)
      }
      word = word ?? between("insert", "", name)
      return word.flatMap { key($0) }.map { .insert(key: $0, isCollection: isIndexes[1]) }
    default: return nil
    }
  }

  private static func label(_ parameter: ManagedMember.Parameter, _ label: String) -> Bool {
    parameter.label == label
  }

  private static func isInteger(_ type: TypeText) -> Bool {
    ["Int", "UInt", "NSInteger", "Swift.Int"].contains(type.text)
  }

  private static let collections: Set<String> = [
    "NSSet", "NSOrderedSet", "NSArray", "NSMutableSet", "NSMutableOrderedSet", "NSMutableArray",
  ]

  private static func isCollection(_ type: TypeText) -> Bool {
    let text: String = type.unwrapped.text
    let last: Substring = text.split(separator: ".").last ?? ""
    return text.hasPrefix("[") || text.hasPrefix("Set<") || text.hasPrefix("Array<")
      || text.hasPrefix("Swift.Set<")
      || collections.contains(String(last))
  }

  private static func decapitalized(_ word: Substring) -> String {
    word.prefix(1).lowercased() + word.dropFirst()
  }
}
