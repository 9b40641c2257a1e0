/// A method that checks one property, `validateTitle(_:)`, which the Objective-C runtime finds by its name.
struct KeyCheck {
  /// The name of the class.
  let owner: String
  let method: String
  let path: String
  /// The offset of the type of its argument.
  let offset: Int

  /// `title`; a name may begin with a capital too: `URL`.
  var keys: [String] {
    let word: Substring = method.dropFirst("validate".count)
    let small: String = word.prefix(1).lowercased() + word.dropFirst()
    // Of `validateURL`, `uRL` would be no name that somebody gives.
    return word.dropFirst().first?.isUppercase == true ? [String(word), small] : [small]
  }
}

extension PortingPass {
  /// The methods of this file that check one property, as far as a class can call them: those that override
  /// none. ``Porter`` leaves out those of classes that have a `validateValue(_:forKey:)` of their own.
  var keyChecks: [KeyCheck] {
    tokens.indices.compactMap { index in
      guard text(index) == "AutoreleasingUnsafeMutablePointer", let name = checkingMethod(index),
        let type = innermostType(at: tokens[index].range.lowerBound), !type.isConstrained,
        type.condition == nil, type.genericParameters.isEmpty
      else { return nil }
      return KeyCheck(
        owner: places.path(at: tokens[index].range.lowerBound), method: name, path: source.path,
        offset: tokens[index].range.lowerBound)
    }
  }

  /// The name in `func validateTitle(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws`.
  private func checkingMethod(_ index: Int) -> String? {
    guard text(index - 1) == ":", isWord(index - 2), text(index - 3) == "_", text(index - 4) == "(",
      text(index - 6) == "func", text(index + 1) == "<", text(index + 2) == "AnyObject",
      text(index + 3) == "?", text(index + 4) == ">", text(index + 5) == ")", text(index + 6) == "throws"
    else { return nil }
    let name: String = text(index - 5)
    guard name.hasPrefix("validate"), name.dropFirst(8).first?.isUppercase == true, name != "validateValue"
    else { return nil }
    var modifier: Int = index - 7
    while Self.accessAndKind.contains(text(modifier)) || text(modifier) == "override" {
      if ["override", "static", "class"].contains(text(modifier)) { return nil }
      modifier -= 1
    }
    return name
  }

  /// The methods that `validateManagedValue(&value, by: validateTitle)` names in this file.
  var checksInCalls: Set<String> {
    Set(
      tokens.indices.compactMap { index in
        text(index) == "by" && text(index + 1) == ":" && text(index + 2).hasPrefix("validate")
          ? text(index + 2) : nil
      })
  }

  mutating func keyValidation(_ index: Int) {
    if let name = checkingMethod(index), namedChecks.contains(name) { return }
    let place: Int = tokens[index].range.lowerBound
    let isCalled: Bool = calledPlaces.contains(place)
    note(
      isCalled ? .checkedKey : .keyValidation, at: isCalled ? range(index - 6, index) : tokens[index].range)
  }

  /// The override that calls the checks of a class, in a list of one, or of none.
  func override(calling checks: [KeyCheck], _ type: TypeDeclaration) -> [String] {
    guard !checks.isEmpty else { return [] }
    let calls: [String] = checks.map { check in
      let keys: String = check.keys.map { "key == \"\($0)\"" }.joined(separator: " || ")
      return "if \(keys) { try validateManagedValue(&value, by: \(check.method)) }"
    }
    let access: String = type.access == .open || type.access == .public ? "public " : ""
    return [
      "\(access)override func validateValue(_ value: inout Any?, forKey key: String) throws { "
        + (["try super.validateValue(&value, forKey: key)"] + calls).joined(separator: "; ") + " }"
    ]
  }
}
