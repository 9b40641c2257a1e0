import CoreData
import Foundation
import StackSupport
import Testing

/// What the model demands, at save and on request.
@Suite
struct ValidationTests {
  /// A Strict object that passes.
  private func valid(_ context: NSManagedObjectContext) -> NSManagedObject {
    context.make(
      "Strict",
      [
        "name": "good", "home": context.make("Home"),
        "parts": NSSet(array: [context.make("Part"), context.make("Part")]),
      ])
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let key: String
    let code: Int
    let value: @Sendable () -> Any?
    var testDescription: String { "\(key) \(code)" }

    init(_ key: String, _ code: Int, _ value: @autoclosure @escaping @Sendable () -> Any?) {
      (self.key, self.code, self.value) = (key, code, value)
    }
  }

  static let cases: [Case] = [
    Case("name", NSValidationMissingMandatoryPropertyError, nil),
    Case("name", NSValidationStringTooShortError, "x"),
    Case("name", NSValidationStringTooLongError, "abcdef"),
    Case("name", NSManagedObjectValidationError, 12),
    Case("name", NSManagedObjectValidationError, Date()),
    Case("code", NSValidationStringPatternMatchingError, "ab1"),
    Case("code", NSValidationStringPatternMatchingError, "AB1x"),
    Case("age", NSValidationMissingMandatoryPropertyError, nil),
    Case("age", NSValidationNumberTooSmallError, -1),
    Case("age", NSValidationNumberTooLargeError, 151),
    Case("age", NSValidationNumberTooLargeError, 40_000),
    Case("age", NSValidationNumberTooSmallError, -40_000),
    Case("age", NSManagedObjectValidationError, "18"),
    Case("born", NSValidationDateTooSoonError, Date(timeIntervalSinceReferenceDate: -1)),
    Case("born", NSValidationDateTooLateError, Date(timeIntervalSinceReferenceDate: 1001)),
    Case("born", NSManagedObjectValidationError, 5),
    Case("home", NSValidationMissingMandatoryPropertyError, nil),
  ]

  @Test(
    .rule("VALID-5", "NSValidationKeyErrorKey"),
    .rule("VALID-9", "NSPropertyDescription.setValidationPredicates(_:withValidationWarnings:)"),
    arguments: StoreKind.allCases, cases)
  func `a wrong value stops the save with its code, object and key`(kind: StoreKind, example: Case) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      for isNew in [true, false] {
        let object: NSManagedObject = valid(context)
        if !isNew { try context.save() }
        object.setValue(example.value(), forKey: example.key)
        let error: NSError = try #require(errorThrown { try context.save() })
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == example.code, "\(error)")
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == example.key)
        #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === object)
        #expect(error.localizedDescription.contains("Strict.\(example.key)"))
        #expect((error.userInfo[NSValidationValueErrorKey] == nil) == (example.value() == nil))
        if example.key != "home" {
          var value: Any? = example.value()
          #expect(codeThrown { try object.validateValue(&value, forKey: example.key) } == example.code)
        }
        #expect(context.hasChanges && (isNew ? object.isInserted : object.isUpdated))
        context.rollback()
      }
    }
  }

  @Test(.rule("REL-5", "NSRelationshipDescription.minCount, maxCount"), arguments: StoreKind.allCases)
  func `counts are checked, and optional to-many may be empty`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let object: NSManagedObject = valid(context)
      try context.save()
      func parts(_ count: Int) -> NSSet { NSSet(array: (0..<count).map { _ in context.make("Part") }) }
      for (count, code) in [
        (1, NSValidationRelationshipLacksMinimumCountError), (2, 0), (3, 0),
        (4, NSValidationRelationshipExceedsMaximumCountError), (0, 0),
      ] {
        object.setValue(parts(count), forKey: "parts")
        #expect(codeThrown { try context.save() } == code, "\(count) parts")
      }
    }
  }

  @Test(.rule("VALID-4", "NSValidationMultipleErrorsError"), arguments: StoreKind.allCases)
  func `several failures are one error with flat details`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let one: NSManagedObject = valid(context)
      let two: NSManagedObject = valid(context)
      one.setValue(nil, forKey: "name")
      one.setValue(200, forKey: "age")
      two.setValue("abcdef", forKey: "name")
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.code == NSValidationMultipleErrorsError)
      let details: [NSError] = try #require(error.userInfo[NSDetailedErrorsKey] as? [any Error]).map {
        $0 as NSError
      }
      #expect(
        details.map(\.code).sorted() == [
          NSValidationMissingMandatoryPropertyError, NSValidationNumberTooLargeError,
          NSValidationStringTooLongError,
        ])
      #expect(details.allSatisfy { $0.userInfo[NSValidationObjectErrorKey] is NSManagedObject })
      #expect(codeThrown { try one.validateForInsert() } == NSValidationMultipleErrorsError)
      #expect(codeThrown { try two.validateForInsert() } == NSValidationStringTooLongError)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a value that was valid when it was saved does not stop later saves`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let object: NSManagedObject = valid(context)
      try context.save()
      object.setValue(19, forKey: "age")
      try context.save()
      #expect(object.value(forKey: "name") as? String == "good")
    }
  }

  @Test(
    .rule("VALID-3", "NSManagedObject.validateValue(_:forKey:)", "it may replace the value"),
    arguments: StoreKind.allCases)
  func `numbers are taken as any numeric type and validation replaces them by the attribute's`(
    kind: StoreKind
  ) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let kinds: NSManagedObject = context.make("Kinds")
      let given: [Any] = [
        Int8(5), Int16(5), Int32(5), 5, Int64(5), UInt8(5), UInt16(5), UInt32(5), UInt(5), UInt64(5), 5.0,
        Float(5), NSNumber(value: 5), Decimal(5), NSDecimalNumber(value: 5),
      ]
      for value in given {
        for key in ["i16", "i32", "i64", "double", "float", "decimal"] {
          var replaced: Any? = value
          try kinds.validateValue(&replaced, forKey: key)
          #expect((replaced as? NSNumber)?.doubleValue == 5, "\(type(of: value)) for \(key)")
          kinds.setValue(value, forKey: key)
          #expect((kinds.value(forKey: key) as? NSNumber)?.doubleValue == 5, "\(type(of: value)) for \(key)")
        }
      }
      try context.save()
      for value in [Double.infinity, .nan, 1e300] {
        kinds.setValue(value, forKey: "i64")
        #expect(codeThrown { try context.save() } != 0)
        context.rollback()
      }
      kinds.setValue(UInt64.max, forKey: "i64")
      #expect(codeThrown { try context.save() } != 0)
    }
  }
}
