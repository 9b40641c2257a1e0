import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

// Validation: at a save and when the program calls it. Failures are collected; a single one is thrown itself,
// several become one NSValidationMultipleErrorsError (1560) whose details are flat.

extension NSManagedObject {
  // MARK: One value

  /// Checks the value at the end of a path of to-one relationships, with the object there.
  public final func validateValue(_ value: inout Any?, forKeyPath keyPath: String) throws {
    let (owner, key) = lastOwner(keyPath)
    try owner.validateValue(&value, forKey: key)
  }

  /// Checks a value by the model. It is replaced by one of the attribute's type.
  final func checkValue(_ value: inout Any?, _ slot: Int) throws {
    var failures: [any Error] = []
    let described: PropertySlot = runtime.layout.slots[slot]
    if described.attribute != nil {
      if described.role == .composite {
        try checkGivenComposite(slot, value)
        return
      }
      let made: SlotValue = makeSlotValue(value, slot: slot)
      checkAttribute(slot, made, &failures)
      if failures.isEmpty, case .stored(let kind, _) = described.role {
        value = made.attributeValue(kind: kind)
      }
    } else if described.isToOne {
      checkToOne(described, SlotValue.unwrapped(value), &failures)
    } else {
      checkToMany(described, count: CollectionCount.of(value), value, &failures)
    }
    try NSManagedObject.throwFailures(failures)
  }

  /// Checks a dictionary that may not be the object's present value.
  private final func checkGivenComposite(_ slot: Int, _ value: Any?) throws {
    let probe = NSManagedObject(entity: entity, insertInto: nil)
    for (number, made) in probe.splitComposite(slot, value) { probe.ensureState().values[number] = made }
    var failures: [any Error] = []
    probe.checkComposite(slot, &failures)
    try NSManagedObject.throwFailures(
      failures.map { failure in
        guard let failure = failure.ofCocoa else { return failure }
        var info: [String: Any] = failure.userInfo
        info[NSValidationObjectErrorKey] = self
        return CocoaError(failure.code, userInfo: info)
      })
  }

  /// Calls the check of a class that has its own for one property, and sets a value that it replaces.
  private final func checkByClass(_ slot: Int, _ failures: inout [any Error]) {
    let described: PropertySlot = runtime.layout.slots[slot]
    let old: Any? = givenValue(slot)
    var value: Any? = old
    do {
      try validateValue(&value, forKey: described.name)
    } catch {
      failures.append(error)
      return
    }
    if isReplaced(value, old, slot) { setObjectValue(value, slot) }
  }

  /// The value as it was set: a number too large for its attribute is not truncated before it is checked.
  private final func givenValue(_ slot: Int) -> Any? {
    if case .stored(let kind, _) = runtime.layout.slots[slot].role, kind == .int16 || kind == .int32,
      case .integer(let number) = slotValue(slot)
    {
      return NSNumber(value: number)
    }
    if runtime.compactSlots[slot].role == .transient,
      let answer = customValue(runtime.layout.slots[slot].name)
    {
      return answer.value
    }
    return objectValue(slot)
  }

  private final func isReplaced(_ value: Any?, _ old: Any?, _ slot: Int) -> Bool {
    guard let relationship = runtime.layout.slots[slot].relationship else {
      if SlotValue.equal(makeSlotValue(value, slot: slot), slotValue(slot)) { return false }
      if case .stored(let kind, _) = runtime.layout.slots[slot].role, kind != .transformable { return true }
      // Values of any type, each in a separate box.
      return PredicateValue(normalizing: value) != PredicateValue(normalizing: old)
    }
    if !relationship.isToMany {
      return SlotValue.unwrapped(value) as? NSManagedObject !== old as? NSManagedObject
    }
    // A collection of the same members, in an ordered relationship in the same order, is no replacement.
    return (value as? NSObject)?.isEqual(old) != true
  }

  /// All checks of the model for a saved object, as if it were new: a migration saves objects before they are
  /// complete.
  package final func validateSaved() throws { try checkModel(isUnchecked: true) }

  /// Whether a decimal that is no number may stay: Apple's stores have such values, and a migration leaves
  /// them as they are.
  final func copiesNotANumber(_ value: SlotValue, _ kind: ColumnKind) -> Bool {
    guard kind == .decimal, case .object(let object) = value, object is Box<Decimal> else { return false }
    return managedObjectContext?.savesUnvalidated == true
  }

  /// All checks of the model, for insertion, update and deletion. `isUnchecked`: whether values that were not
  /// changed may be invalid nevertheless.
  final func checkModel(isUnchecked: Bool = false) throws {
    try throwingReadFailures { try checkSlots(isUnchecked: isUnchecked) }
  }

  /// A relationship that can't be read is the error, whatever its rules are.
  private final func throwingReadFailures(_ body: () throws -> Void) throws {
    guard let context = identityMap?.context else { return try body() }
    // A save collects them itself, once for all of its objects.
    if context.readFailures != nil { return try body() }
    try withCocoaErrors { try context.throwingReadFailures(body) }
  }

  /// Whether a look at the values that are to be saved finds all of them valid: nothing is retained or read
  /// for it. If not, or if more is to be checked, `checkSlots` decides.
  private final func isPlainlyValid() -> Bool {
    let facts: UnsafePointer<EntityFacts> = home.facts
    if facts.pointee.hasChecksOfClass { return false }
    guard let state else { return false }
    let isNew: Bool = flags.contains(.inserted)
    let changed: SlotSet = state.changed
    return state.values.withUnsafeBufferPointer { values in
      for slot in 0..<facts.pointee.slotCount {
        let brief: UnsafeMutablePointer<CompactSlot> = facts.pointee.slots + slot
        switch brief.pointee.role {
        case .attribute:
          if brief.pointee.isElement { return false }
          if !isNew, !changed.contains(slot) { continue }
          if brief.pointee.isDerived { continue }
          if brief.pointee.hasPredicates { return false }
          switch values[slot] {
          case .unset, .string: continue
          case .null: if brief.pointee.isRequired { return false }
          case .integer(let number):
            if brief.pointee.kind == .int16, Int64(Int16(truncatingIfNeeded: number)) != number {
              return false
            }
            if brief.pointee.kind == .int32, Int64(Int32(truncatingIfNeeded: number)) != number {
              return false
            }
          case .double(let number): if number.isNaN { return false }
          case .object: return false
          }
        case .toOne:
          if !isNew, !changed.contains(slot) { continue }
          if brief.pointee.isRequired || brief.pointee.hasPredicates { return false }
        case .toMany:
          if brief.pointee.isRequired || brief.pointee.hasPredicates || brief.pointee.isCounted {
            return false
          }
        case .other: continue
        case .transient, .composite: return false
        }
      }
      return true
    }
  }

  private final func checkSlots(isUnchecked: Bool) throws {
    if !isUnchecked, isPlainlyValid() { return }
    var failures: [any Error] = []
    let isNew: Bool = isUnchecked || flags.contains(.inserted)
    let usesClassCheck: Bool = runtime.validatesValues
    for slot in 0..<runtime.slotCount {
      let brief: CompactSlot = compactSlot(slot)
      if brief.isElement { continue }
      if brief.role == .composite {
        if isNew || isTouched(slot) {
          checkComposite(slot, usesClassCheck: usesClassCheck, &failures)
        }
        continue
      }
      // No store has it: an object that was read again lacks what the one that was saved had.
      if isUnchecked, brief.role == .transient { continue }
      // A value that was not changed was valid when it was saved.
      if brief.role != .toMany, !isNew, state?.changed.contains(slot) != true, !isComputed(slot, brief) {
        continue
      }
      if usesClassCheck {
        let isUntouched: Bool = brief.role == .toMany && !isNew && state?.toMany(slot)?.isChanged != true
        if brief.isDerived || brief.role == .other || isUntouched { continue }
        checkByClass(slot, &failures)
        continue
      }
      switch brief.role {
      case .attribute, .transient:
        if brief.isDerived || (isPlainlyValid(slot, brief) && !isComputed(slot, brief)) { continue }
        if runtime.layout.slots[slot].relationship != nil { continue }
        checkAttribute(slot, validatedValue(slot, brief), &failures)
      case .toOne:
        if brief.isRequired || brief.hasPredicates {
          checkToOne(runtime.layout.slots[slot], toOneTarget(slot), &failures)
        }
      case .toMany:
        let described: PropertySlot = runtime.layout.slots[slot]
        let many: ToManyState? = state?.toMany(slot)
        if many == nil, !isUnchecked {
          if isNew { checkToMany(described, count: 0, nil, &failures) }
          continue
        }
        guard many?.isChanged == true || isNew else { continue }
        if let relationship = described.relationship,
          relationship.minCount > 0 || relationship.maxCount > 0 || brief.isRequired || brief.hasPredicates
        {
          checkToMany(described, count: memberCount(slot), nil, &failures)
        }
      case .composite, .other: continue
      }
    }
    try NSManagedObject.throwFailures(failures)
  }

  /// Whether an accessor computes the value at each read, so that neither the slot nor the recorded changes
  /// show what it is now.
  @inline(__always)
  private final func isComputed(_ slot: Int, _ brief: CompactSlot) -> Bool {
    guard brief.role == .transient, let accessors = runtime.accessors else { return false }
    return accessors[runtime.layout.slots[slot].name] != nil
  }

  /// For a transient attribute the accessor's value is checked; for a stored one the stored value.
  private final func validatedValue(_ slot: Int, _ brief: CompactSlot) -> SlotValue {
    let held: SlotValue = slotValue(slot)
    if case .object(let object) = held, object is ForeignValue { return held }
    guard brief.role == .transient, let answer = customValue(runtime.layout.slots[slot].name) else {
      return held
    }
    return makeSlotValue(answer.value, slot: slot)
  }

  private final func isTouched(_ composite: Int) -> Bool {
    guard let state else { return false }
    return state.changed.contains(composite)
      || runtime.layout.storedSlots(of: composite).contains(where: state.changed.contains)
  }

  /// A composite attribute as a whole, then its elements: if it has no value, its elements may be missing.
  private final func checkComposite(_ slot: Int, usesClassCheck: Bool = false, _ failures: inout [any Error])
  {
    if usesClassCheck { return checkByClass(slot, &failures) }
    let value: SlotValue = compositeValue(slot)
    checkAttribute(slot, value, &failures)
    guard case .object(let object) = value, !(object is ForeignValue) else { return }
    for element in runtime.layout.slots[slot].elements {
      if runtime.compactSlots[element].role == .composite {
        checkComposite(element, &failures)
      } else {
        checkAttribute(element, slotValue(element), &failures)
      }
    }
  }

  /// Whether the value of an attribute is valid without further checks: the common case, decided without
  /// reading a description.
  @inline(__always)
  private final func isPlainlyValid(_ slot: Int, _ brief: CompactSlot) -> Bool {
    guard !brief.hasPredicates, let state else { return false }
    switch state.values[slot] {
    case .unset: return true
    case .null: return !brief.isRequired
    case .integer(let number):
      switch brief.kind {
      case .int16: return Int64(Int16(truncatingIfNeeded: number)) == number
      case .int32: return Int64(Int32(truncatingIfNeeded: number)) == number
      default: return true
      }
    case .string: return true
    case .double, .object: return state.values[slot].isStorable(as: brief.kind)
    }
  }

  /// Deny rules: members that are not being deleted too prevent the deletion.
  final func checkDelete() throws {
    if !runtime.denySlots.isEmpty { try throwingReadFailures { try checkDenyRules() } }
  }

  private final func checkDenyRules() throws {
    var failures: [any Error] = []
    for slot in runtime.denySlots {
      let described: PropertySlot = runtime.layout.slots[slot]
      let left: Int =
        described.isToMany
        ? remainingMemberCount(slot)
        : toOneTarget(slot).map { $0.isDeleted || $0.hasLeft(self, slot) ? 0 : 1 } ?? 0
      if left > 0 {
        failures.append(
          failure(
            NSValidationRelationshipDeniedDeleteError, described,
            because: "its delete rule is Deny, and \(left) object(s) are in it",
            advice: "Remove or delete them first.", value: objectValue(slot)))
      }
    }
    try NSManagedObject.throwFailures(failures)
  }

  // MARK: Single checks

  /// Whether a value is valid by the model.
  final func isValid(_ value: SlotValue, _ slot: Int) -> Bool {
    if case .object(let object) = value, object is ForeignValue { return false }
    guard case .stored(let kind, _) = runtime.layout.slots[slot].role, case .integer(let number) = value
    else { return true }
    return NSManagedObject.range(of: kind).contains(number)
  }

  /// The range of an attribute's numbers, in words, if a value that was made of `given` is none of them.
  static func refusedRange(of value: SlotValue, _ kind: ColumnKind, given: Any) -> String? {
    if case .integer(let number) = value {
      let range: ClosedRange<Int64> = range(of: kind)
      return range.contains(number) ? nil : "an integer from \(range.lowerBound) to \(range.upperBound)"
    }
    guard case .double(let number) = value, kind == .float, number.isInfinite else { return nil }
    let isInfinite: Bool = (given as? Double)?.isInfinite ?? (given as? Float)?.isInfinite ?? false
    return isInfinite ? nil : "a number that a Float can hold"
  }

  /// What an attribute of a type takes, in words, if `given` is nothing of that; nil otherwise.
  package static func refusal(of given: Any, for type: NSAttributeType) -> String? {
    guard let kind = ColumnKind(type) else { return nil }
    let made: SlotValue = .make(given, kind: kind)
    guard case .object(let object) = made, object is ForeignValue else {
      return refusedRange(of: made, kind, given: given)
    }
    let isInteger: Bool = [.int16, .int32, .int64].contains(kind)
    guard isInteger, given is NSNumber || given is any Numeric else {
      return "a value of type \(type.editorNameForMessages)"
    }
    return "an integer from \(range(of: kind).lowerBound) to \(range(of: kind).upperBound)"
  }

  private static func range(of kind: ColumnKind) -> ClosedRange<Int64> {
    switch kind {
    case .int16: Int64(Int16.min)...Int64(Int16.max)
    case .int32: Int64(Int32.min)...Int64(Int32.max)
    default: .min ... .max
    }
  }

  /// Throws the reason why a store can't keep the value of a slot.
  final func refuseValue(_ slot: Int) throws {
    var failures: [any Error] = []
    checkAttribute(slot, state?.values[slot] ?? .null, &failures)
    try NSManagedObject.throwFailures(failures)
  }

  private final func checkAttribute(_ slot: Int, _ value: SlotValue, _ failures: inout [any Error]) {
    let described: PropertySlot = runtime.layout.slots[slot]
    guard let attribute = described.attribute else { return }
    if case .null = value {
      if !attribute.isOptional {
        failures.append(
          failure(NSValidationMissingMandatoryPropertyError, described, value: nil))
      }
      return
    }
    if case .object(let object) = value, let foreign = object as? ForeignValue {
      failures.append(
        failure(
          NSManagedObjectValidationError, described,
          because: foreign.wanted.map {
            "the property of \(type(of: self)) is of type \($0), which can't be made of the value that was set, a "
              + "\(type(of: foreign.value))"
          } ?? "it is of type \(attribute.attributeType.editorNameForMessages) and can't take "
            + (described.role == .composite
              ? compositeComplaint(slot, foreign.value) : "a value of type \(type(of: foreign.value))"),
          advice: foreign.wanted == nil ? nil : "Set a value that it has.",
          value: foreign.value))
      return
    }
    if case .stored(let kind, _) = described.role, !value.isStorable(as: kind) {
      if copiesNotANumber(value, kind) { return }
      failures.append(
        failure(
          kind == .date ? NSValidationInvalidDateError : NSManagedObjectValidationError, described,
          because: "it is NaN in '\(objectID)', which no store can keep",
          advice: "Set a number, or nil for no value.",
          // Foundation crashes if such a date is printed, as happens with errors.
          value: kind == .date ? nil : currentValue(value, described)))
      return
    }
    if case .stored(let kind, _) = described.role, case .integer(let number) = value {
      let range: ClosedRange<Int64> = NSManagedObject.range(of: kind)
      if !range.contains(number) {
        failures.append(
          failure(
            number > range.upperBound ? NSValidationNumberTooLargeError : NSValidationNumberTooSmallError,
            described, because: "it takes \(range.lowerBound)…\(range.upperBound), not \(number)",
            value: number))
        return
      }
    }
    if attribute.validationPredicates.isEmpty { return }
    checkPredicates(described, currentValue(value, described), &failures)
  }

  /// The validation predicates of a property for a value that is not nil: the value of an attribute, the
  /// target of a to-one relationship, the members of a to-many one as a set, which may be empty: `@count >=
  /// 1` excludes that. The warning is the error's code or its text.
  private final func checkPredicates(_ slot: PropertySlot, _ value: Any?, _ failures: inout [any Error]) {
    let property: NSPropertyDescription = slot.property
    for (number, predicate) in property.validationPredicates.enumerated() {
      var reason: String = "it does not satisfy \(predicate.formatText)"
      do {
        if try predicate.evaluateThrowing(with: value, substitutionVariables: nil) { continue }
      } catch {
        reason = "its validation predicate \(predicate.formatText) can't be evaluated: \(error)"
      }
      let warning: Any? =
        number < property.validationWarnings.count ? property.validationWarnings[number] : nil
      failures.append(
        failure(
          ValidationCode.of(warning), slot,
          (warning as? String).flatMap { Int($0) == nil && !$0.isEmpty ? $0 : nil },
          because: reason, value: value, predicate: predicate))
    }
  }

  private final func currentValue(_ value: SlotValue, _ slot: PropertySlot) -> Any? {
    if case .stored(let kind, _) = slot.role { return value.attributeValue(kind: kind) }
    return value.attributeValue(kind: .transformable)
  }

  private final func checkToOne(_ slot: PropertySlot, _ target: Any?, _ failures: inout [any Error]) {
    if let target { return checkPredicates(slot, target, &failures) }
    guard slot.relationship?.isOptional == false else { return }
    failures.append(failure(NSValidationMissingMandatoryPropertyError, slot, value: nil))
  }

  /// `given`: the members to be checked; nil for those of the object.
  private final func checkToMany(
    _ slot: PropertySlot, count: Int, _ given: Any?, _ failures: inout [any Error]
  ) {
    checkCount(slot, count: count, given, &failures)
    if slot.property.validationPredicates.isEmpty { return }
    // An empty relationship is an empty collection, whatever the given value was.
    let none: NSObject = slot.relationship?.isOrdered == true ? NSOrderedSet() : NSSet()
    checkPredicates(slot, count == 0 ? none : given ?? ownMembers(slot), &failures)
  }

  /// The missing value (1570) is for attributes and to-one relationships.
  private final func checkCount(
    _ slot: PropertySlot, count: Int, _ given: Any?, _ failures: inout [any Error]
  ) {
    guard let relationship = slot.relationship, !MemberCounts(of: relationship).allow(count) else { return }
    let isTooFew: Bool = count < relationship.minCount
    failures.append(
      failure(
        isTooFew
          ? NSValidationRelationshipLacksMinimumCountError : NSValidationRelationshipExceedsMaximumCountError,
        slot,
        because:
          "it has \(count), \(isTooFew ? "fewer than \(relationship.minCount)" : "more than \(relationship.maxCount)")",
        value: given ?? ownMembers(slot)))
  }

  private final func ownMembers(_ slot: PropertySlot) -> Any? {
    runtime.layout.slotByName[slot.name].flatMap { objectValue($0) }
  }

  /// The error for one property. `warning` is the model's text for users, `detail` the exact problem, as part
  /// of a sentence.
  private final func failure(
    _ code: Int, _ slot: PropertySlot, _ warning: String? = nil, because detail: String? = nil,
    advice: String? = nil, value: Any?, predicate: NSPredicate? = nil
  ) -> CocoaError {
    let words = ValidationMessages(entity: runtime.layout.entity, property: slot.name)
    var info: [String: Any] = [NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: slot.name]
    if let value { info[NSValidationValueErrorKey] = value }
    if let predicate { info[NSValidationPredicateErrorKey] = predicate }
    return words.message(code, warning: warning, detail: detail, advice: advice).cocoaError(code, info)
  }

  /// Throws a single failure itself, several as 1560.
  static func throwFailures(_ failures: [any Error]) throws {
    guard let first = failures.first else { return }
    if failures.count == 1 { throw first }
    throw combined(failures)
  }

  /// A 1560 whose details are flat: a 1560 among the failures is unpacked.
  static func combined(_ failures: [any Error]) -> CocoaError {
    let flat: [any Error] = failures.flatMap { failure -> [any Error] in
      guard let cocoa = failure.ofCocoa, cocoa.code.rawValue == NSValidationMultipleErrorsError,
        let inner = cocoa.userInfo[NSDetailedErrorsKey] as? [any Error]
      else { return [failure] }
      return inner
    }
    let most: Int = 20
    let lines: String = flat.prefix(most).map { ErrorMessage.closed(($0 as NSError).localizedDescription) }
      .joined(separator: " ")
    let rest: String = flat.count > most ? " And \(flat.count - most) more." : ""
    return ErrorMessage("\(flat.count) validation errors: \(lines)\(rest)")
      .cocoaError(NSValidationMultipleErrorsError, [NSDetailedErrorsKey: flat])
  }
}

/// Apple stores the specific error code of a validation predicate as its warning.
private enum ValidationCode {
  static func of(_ warning: Any?) -> Int {
    let code: Int? = (warning as? NSNumber)?.intValue ?? (warning as? String).flatMap { Int($0) }
    return code ?? NSManagedObjectValidationError
  }
}

private enum CollectionCount {
  static func of(_ value: Any?) -> Int {
    switch SlotValue.unwrapped(value) {
    case let set as NSSet: set.count
    case let set as NSOrderedSet: set.count
    case let array as [Any]: array.count
    case let set as Set<NSManagedObject>: set.count
    case nil: 0
    default: 1
    }
  }
}

extension NSAttributeType {
  fileprivate var editorNameForMessages: String {
    switch self {
    case .integer16AttributeType: "Integer 16"
    case .integer32AttributeType: "Integer 32"
    case .integer64AttributeType: "Integer 64"
    case .decimalAttributeType: "Decimal"
    case .doubleAttributeType: "Double"
    case .floatAttributeType: "Float"
    case .stringAttributeType: "String"
    case .booleanAttributeType: "Boolean"
    case .dateAttributeType: "Date"
    case .binaryDataAttributeType: "Binary Data"
    case .UUIDAttributeType: "UUID"
    case .URIAttributeType: "URI"
    case .transformableAttributeType: "Transformable"
    default: "\(self)"
    }
  }
}
