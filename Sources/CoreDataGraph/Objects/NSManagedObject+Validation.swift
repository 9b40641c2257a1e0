import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

// Validation: at save and when asked for. Failures are collected; one stands for itself, several make a
// NSValidationMultipleErrorsError (1560) whose details are flat.

extension NSManagedObject {
  // MARK: Overridable

  /// Checks one value against the model; may replace it by one of the right type. Throws the first failure.
  ///
  /// Numbers may be given as any numeric type. See Apple's page
  /// [validateValue(_:forKey:)](https://developer.apple.com/documentation/coredata/nsmanagedobject/validatevalue(_:forkey:)).
  public final func validateValue(_ value: inout Any?, forKey key: String) throws {
    let slot: Int = requireSlot(key)
    var failures: [CocoaError] = []
    let described: PropertySlot = runtime.layout.slots[slot]
    if described.attribute != nil {
      let made: SlotValue = makeSlotValue(value, slot: slot)
      checkAttribute(slot, made, &failures)
      if failures.isEmpty, case .stored(let kind, _) = described.role {
        value = made.attributeValue(kind: kind)
      }
    } else if described.isToOne {
      checkToOne(described, isNil: SlotValue.unwrapped(value) == nil, &failures)
    } else {
      checkCount(described, count: CollectionCount.of(value), &failures)
    }
    try NSManagedObject.throwFailures(failures)
  }

  /// All checks of the model, for the three occasions.
  final func checkModel() throws {
    var failures: [CocoaError] = []
    let isNew: Bool = flags.contains(.inserted)
    for slot in 0..<runtime.slotCount {
      let brief: SlotBrief = runtime.brief[slot]
      // An untouched value was valid when it was saved.
      if brief.role != .toMany, !isNew, state?.changed.contains(slot) != true { continue }
      switch brief.role {
      case .attribute, .transient:
        if brief.isDerived || isPlainlyValid(slot, brief) { continue }
        if runtime.layout.slots[slot].relationship != nil { continue }
        checkAttribute(slot, slotValue(slot), &failures)
      case .toOne:
        if brief.isRequired {
          checkToOne(runtime.layout.slots[slot], isNil: toOneTarget(slot) == nil, &failures)
        }
      case .toMany:
        let described: PropertySlot = runtime.layout.slots[slot]
        guard let many = state?.toMany(slot) else {
          if isNew { checkCount(described, count: 0, &failures) }
          continue
        }
        guard many.isChanged || isNew else { continue }
        if let relationship = described.relationship,
          relationship.minCount > 0 || relationship.maxCount > 0 || !relationship.isOptional
        {
          checkCount(described, count: members(slot).count, &failures)
        }
      case .other: continue
      }
    }
    try NSManagedObject.throwFailures(failures)
  }

  /// Whether a set attribute needs no closer look: the common case, decided without touching a description.
  @inline(__always)
  private final func isPlainlyValid(_ slot: Int, _ brief: SlotBrief) -> Bool {
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
    case .double, .string: return true
    case .object(let object): return !(object is ForeignValue)
    }
  }

  /// Deny rules: members that are not themselves being deleted stop the deletion.
  final func checkDelete() throws {
    var failures: [CocoaError] = []
    for slot in runtime.relationshipSlots {
      let described: PropertySlot = runtime.layout.slots[slot]
      guard let relationship = described.relationship, relationship.deleteRule == .denyDeleteRule else {
        continue
      }
      let left: Int =
        described.isToMany
        ? members(slot).reduce(0) { $0 + ($1.isDeleted ? 0 : 1) }
        : toOneTarget(slot).map { $0.isDeleted ? 0 : 1 } ?? 0
      if left > 0 {
        failures.append(
          failure(
            NSValidationRelationshipDeniedDeleteError, described,
            "can't be deleted while \(left) object(s) are in \(described.name) (delete rule Deny); remove or delete them first",
            value: nil))
      }
    }
    try NSManagedObject.throwFailures(failures)
  }

  // MARK: Single checks

  private final func checkAttribute(_ slot: Int, _ value: SlotValue, _ failures: inout [CocoaError]) {
    let described: PropertySlot = runtime.layout.slots[slot]
    guard let attribute = described.attribute else { return }
    if case .null = value {
      if !attribute.isOptional {
        failures.append(
          failure(NSValidationMissingMandatoryPropertyError, described, "is a required value", value: nil))
      }
      return
    }
    if case .object(let object) = value, let foreign = object as? ForeignValue {
      failures.append(
        failure(
          NSManagedObjectValidationError, described,
          "is of type \(attribute.attributeType.editorNameForMessages) and can't take a value of type "
            + "\(type(of: foreign.value))", value: foreign.value))
      return
    }
    if case .stored(let kind, _) = described.role, case .integer(let number) = value {
      let range: ClosedRange<Int64>
      switch kind {
      case .int16: range = Int64(Int16.min)...Int64(Int16.max)
      case .int32: range = Int64(Int32.min)...Int64(Int32.max)
      default: range = .min ... .max
      }
      if !range.contains(number) {
        failures.append(
          failure(
            number > range.upperBound ? NSValidationNumberTooLargeError : NSValidationNumberTooSmallError,
            described, "holds \(number), outside \(range.lowerBound)…\(range.upperBound)", value: number))
        return
      }
    }
    if attribute.validationPredicates.isEmpty { return }
    let object: Any? = currentValue(value, described)
    for (number, predicate) in attribute.validationPredicates.enumerated() {
      let holds: Bool = (try? predicate.evaluateThrowing(with: object, substitutionVariables: nil)) ?? false
      if holds { continue }
      let warning: Any? =
        number < attribute.validationWarnings.count ? attribute.validationWarnings[number] : nil
      failures.append(
        failure(
          ValidationCode.of(warning), described,
          (warning as? String).flatMap { Int($0) == nil && !$0.isEmpty ? $0 : nil }
            ?? "does not satisfy \(predicate.formatText)",
          value: object, predicate: predicate))
    }
  }

  private final func currentValue(_ value: SlotValue, _ slot: PropertySlot) -> Any? {
    if case .stored(let kind, _) = slot.role { return value.attributeValue(kind: kind) }
    return value.attributeValue(kind: .transformable)
  }

  private final func checkToOne(_ slot: PropertySlot, isNil: Bool, _ failures: inout [CocoaError]) {
    guard isNil, let relationship = slot.relationship, !relationship.isOptional else { return }
    failures.append(
      failure(NSValidationMissingMandatoryPropertyError, slot, "is a required value", value: nil))
  }

  private final func checkCount(_ slot: PropertySlot, count: Int, _ failures: inout [CocoaError]) {
    guard let relationship = slot.relationship else { return }
    if count == 0 {
      if !relationship.isOptional {
        failures.append(
          failure(NSValidationMissingMandatoryPropertyError, slot, "must not be empty", value: nil))
      }
      return
    }
    if count < relationship.minCount {
      failures.append(
        failure(
          NSValidationRelationshipLacksMinimumCountError, slot,
          "has \(count) object(s), fewer than \(relationship.minCount)", value: nil))
    }
    if relationship.maxCount > 0, count > relationship.maxCount {
      failures.append(
        failure(
          NSValidationRelationshipExceedsMaximumCountError, slot,
          "has \(count) object(s), more than \(relationship.maxCount)", value: nil))
    }
  }

  private final func failure(
    _ code: Int, _ slot: PropertySlot, _ text: String, value: Any?, predicate: NSPredicate? = nil
  ) -> CocoaError {
    var info: [String: Any] = [
      NSLocalizedDescriptionKey: "\(runtime.layout.name).\(slot.name) \(text).",
      NSValidationObjectErrorKey: self,
      NSValidationKeyErrorKey: slot.name,
    ]
    if let value { info[NSValidationValueErrorKey] = value }
    if let predicate { info[NSValidationPredicateErrorKey] = predicate }
    return CocoaError(CocoaError.Code(rawValue: code), userInfo: info)
  }

  /// One failure as itself, several as 1560.
  static func throwFailures(_ failures: [any Error]) throws {
    guard let first = failures.first else { return }
    if failures.count == 1 { throw first }
    throw combined(failures)
  }

  /// A 1560 whose details are flat: a 1560 among the failures is unpacked.
  static func combined(_ failures: [any Error]) -> CocoaError {
    let flat: [any Error] = failures.flatMap { failure -> [any Error] in
      let info: [String: Any] = (failure as NSError).userInfo
      if (failure as NSError).code == NSValidationMultipleErrorsError,
        let inner = info[NSDetailedErrorsKey] as? [any Error]
      {
        return inner
      }
      return [failure]
    }
    let lines: String = flat.prefix(5).map { ($0 as NSError).localizedDescription }.joined(separator: " ")
    return CocoaError(
      CocoaError.Code(rawValue: NSValidationMultipleErrorsError),
      userInfo: [
        NSLocalizedDescriptionKey: "\(flat.count) validation errors: \(lines)\(flat.count > 5 ? " …" : "")",
        NSDetailedErrorsKey: flat,
      ])
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
