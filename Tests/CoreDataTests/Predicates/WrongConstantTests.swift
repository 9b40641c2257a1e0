import CoreData
import Foundation
import StackSupport
import Testing

/// Constants that can't be what a property holds, and patterns without an end (finding D).
struct WrongConstantTests {
  private enum Color: String { case red, green }
  private enum Level: Int { case low = 1 }
  private enum Bare { case one }
  private struct Point { var x: Int = 1 }

  private static let uuid: String = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"

  private func count(_ entity: String, _ predicate: NSPredicate, in context: NSManagedObjectContext) throws
    -> Int
  {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = predicate
    return try context.fetch(request).count
  }

  private func expectError(
    _ predicate: NSPredicate, _ entity: String, _ parts: [String], in context: NSManagedObjectContext
  ) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = predicate
    let error: NSError = try #require(errorThrown { _ = try context.fetch(request) }, "\(predicate)")
    let described = try #require(World.shared.entitiesByName[entity])
    let problems: [PredicateProblem] = predicate.problems(for: described)
    #expect(error.userInfo[PredicateProblem.errorKey] as? [PredicateProblem] == problems)
    for part in parts {
      #expect(error.localizedDescription.contains(part), "\(part) in: \(error.localizedDescription)")
    }
    let counted: NSError? = errorThrown { _ = try context.count(for: request) }
    #expect(counted?.localizedDescription == error.localizedDescription)
  }

  // MARK: Texts

  /// A comparison with a text, and what the error shows.
  static let texts: [(entity: String, format: String, parts: [String])] = [
    (
      "Kinds", "date > '2024-01-31T08:30:00Z'",
      [#"CAST("2024-01-31T08:30:00Z", "NSDate")"#, "a Date: date > %@"]
    ),
    ("Kinds", "date == 'yesterday'", [#"CAST("2024-01-31T08:30:00Z", "NSDate")"#, "date == %@"]),
    ("Kinds", "'x' <= date", ["a Date: %@ <= date"]), ("Kinds", "date IN {'a', 'b'}", ["Dates: date IN %@"]),
    ("Kinds", "date BETWEEN {'2024-01-31', '2024-02-01'}", [#"CAST("2024-01-31", "NSDate")"#]),
    ("Kinds", "uuid == '\(uuid)'", [#"CAST("\#(uuid)", "NSUUID")"#, "a UUID: uuid == %@"]),
    ("Kinds", "uuid != 'x'", [#"CAST("\#(uuid)", "NSUUID")"#]),
    ("Kinds", "uri == 'https://a.b'", [#"CAST("https://a.b", "NSURL")"#, "a URL: uri == %@"]),
    ("Kinds", "bytes == 'ab'", ["Data: bytes == %@"]),
    ("Kinds", "flag == 'YES'", ["YES or NO", "flag == %@"]),
    ("Kinds", "i16 == '5'", ["Write 5 without quotation marks", "i16 == %@"]),
    ("Kinds", "i32 == 'red'", ["rawValue", "i32 == %@"]), ("Kinds", "double >= 'x'", ["double >= %@"]),
    ("Kinds", "decimal == '1.5'", ["Write 1.5 without"]), ("Kinds", "float IN {'x'}", ["float IN %@"]),
    ("Item", "SELF == 'x-coredata://A/Item/p1'", ["managedObjectID(forURIRepresentation:)", "SELF == %@"]),
    ("Item", "category == 'one'", ["the object or its objectID: category == %@", "properties"]),
    ("Item", "ANY tags == 'one'", ["objectID: tags == %@"]),
    ("Item", "objectID IN {'x-coredata://A/Item/p1'}", ["managedObjectID(forURIRepresentation:)"]),
    ("Item", "NOT (title == 'a' OR due < 'b')", ["a Date: due < %@"]),
  ]

  @Test(arguments: StoreKind.allCases) func `a text for another kind of value`(kind: StoreKind) throws {
    try Stack(kind).run { context in
      for (entity, format, parts) in Self.texts {
        let predicate = NSPredicate(format: format)
        try expectError(predicate, entity, parts + ["can't be compared with a text"], in: context)
      }
    }
  }

  @Test(arguments: StoreKind.allCases) func `what the errors show works`(kind: StoreKind) throws {
    try Stack(kind).run { context in
      let date: Date = try Date("2024-01-31T08:30:00Z", strategy: .iso8601)
      let thing: NSManagedObject = context.make(
        "Kinds",
        [
          "date": date, "uuid": try #require(UUID(uuidString: Self.uuid)),
          "uri": try #require(URL(string: "https://a.b")), "i16": 5,
          "flag": true, "bytes": Data([1]),
        ])
      try context.save()
      for predicate in [
        NSPredicate(format: #"date == CAST("2024-01-31T08:30:00Z", "NSDate")"#),
        NSPredicate(format: "date == %@", date as NSDate),
        NSPredicate(format: #"uuid == CAST("\#(Self.uuid)", "NSUUID")"#),
        NSPredicate(format: #"uri == CAST("https://a.b", "NSURL")"#),
        NSPredicate(format: "bytes == %@", Data([1]) as NSData), NSPredicate(format: "flag == YES"),
        NSPredicate(format: "i16 == 5"), NSPredicate(format: "SELF == %@", thing.objectID),
      ] {
        #expect(try count("Kinds", predicate, in: context) == 1, "\(predicate)")
      }
    }
  }

  // MARK: CAST

  /// Finding: a constant that `CAST` can't read gave no rows, and no word about it.
  static let casts: [(format: String, parts: [String])] = [
    (
      #"date > CAST("1800", "NSDate")"#,
      [#"the text "1800" is no date"#, #"CAST("2024-01-31", "NSDate")"#, #"CAST(1800, "NSDate")"#, "%@"]
    ),
    (#"date == CAST("yesterday", "NSDate")"#, [#"CAST("2024-01-31T08:30:00Z", "NSDate")"#]),
    (#"date == CAST("", "Date")"#, [#"the text "" is no date"#]),
    (#"CAST("2024-13-45", "NSDate") == nil"#, ["2024-13-45", "is no date"]),
    (#"NOT (date IN {CAST("x", "NSDate")})"#, ["is no date"]),
    (#"date BETWEEN {CAST("2024-01-31", "NSDate"), CAST("x", "NSDate")}"#, [#"the text "x" is no date"#]),
    (#"TERNARY(flag == YES, CAST("x", "NSDate"), date) != nil"#, ["is no date"]),
    (#"uuid == CAST("42", "NSUUID")"#, [#"the text "42" is no UUID"#, "E621E1F8", "%@"]),
    (#"i16 == CAST("five", "NSNumber")"#, [#"the text "five" is no number"#, #"CAST("12.5", "NSNumber")"#]),
    (#"decimal == CAST("x", "NSDecimalNumber")"#, ["is no number", "a Decimal"]),
    (#"uri == CAST("", "NSURL")"#, ["is no URL", "https://example.org"]),
  ]

  @Test(arguments: StoreKind.allCases) func `a constant that can't be cast`(kind: StoreKind) throws {
    try Stack(kind).run { context in
      for isPending in [false, true] {
        if isPending { _ = context.make("Kinds", ["text": "red"]) }
        for (format, parts) in Self.casts {
          try expectError(NSPredicate(format: format), "Kinds", parts, in: context)
        }
      }
      let long = NSPredicate(format: "date == CAST(%@, 'NSDate')", String(repeating: "x", count: 10_000))
      let described = try #require(World.shared.entitiesByName["Kinds"])
      let reason: String = try #require(long.problems(for: described).first).reason
      #expect(reason.utf8.count < 200)
    }
  }

  @Test(arguments: StoreKind.allCases) func `columns and conditions on groups can't cast it either`(
    kind: StoreKind
  ) throws {
    try Stack(kind).run { context in
      _ = context.make("Kinds", ["text": "red"])
      try context.save()
      let column = NSExpressionDescription()
      column.name = "moment"
      column.expression = NSExpression(format: #"CAST("1800", "NSDate")"#)
      let request = NSFetchRequest<NSDictionary>(entityName: "Kinds")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = [column]
      let error: NSError = try #require(errorThrown { _ = try context.fetch(request) })
      #expect(error.localizedDescription.contains("is no date"), "\(error)")
      request.propertiesToFetch = ["text"]
      request.propertiesToGroupBy = ["text"]
      request.havingPredicate = NSPredicate(format: #"max(date) > CAST("1800", "NSDate")"#)
      let second: NSError = try #require(errorThrown { _ = try context.fetch(request) })
      #expect(second.localizedDescription.contains(#"CAST(1800, "NSDate")"#), "\(second)")
    }
  }

  @Test(arguments: StoreKind.allCases) func `what the errors on casts show works`(kind: StoreKind) throws {
    try Stack(kind).run { context in
      _ = context.make(
        "Kinds", ["date": Date(timeIntervalSinceReferenceDate: 1800), "i16": 12, "text": "no date"])
      try context.save()
      for format in [
        #"date == CAST(1800, "NSDate")"#, #"date > CAST("2000-01-31", "NSDate")"#,
        #"date < CAST("2024-01-31T08:30:00Z", "NSDate")"#,
        #"date == CAST(CAST("1800", "NSNumber"), "NSDate")"#, #"i16 == CAST("12", "NSNumber")"#,
        // What a row holds is no mistake of the predicate's.
        #"CAST(text, "NSDate") == nil"#, #"CAST(nil, "NSDate") == nil"#,
      ] {
        #expect(try count("Kinds", NSPredicate(format: format), in: context) == 1, "\(format)")
      }
    }
  }

  // MARK: SELF

  /// Finding: the words on `SELF` as an attribute named no attribute.
  @Test func `SELF in the place of an attribute`() throws {
    let thing = World.entity(
      "Thing", [World.attribute("SELF", .stringAttributeType), World.attribute("name", .stringAttributeType)])
    let item = try #require(World.shared.entitiesByName["Item"])
    for format in [
      "SELF == 'text'", "SELF == 3", "SELF > 3", "SELF LIKE 'x*'", "SELF CONTAINS 'x'", "ANY SELF == 'x'",
      "name == SELF",
      "SELF IN {1, 2}", "SELF BETWEEN {1, 2}", "'x' IN SELF", "SELF MATCHES 'x'", "SELF == YES", "%K == 'x'",
    ] {
      let predicate = NSPredicate(format: format, argumentArray: format.contains("%K") ? ["SELF"] : [])
      for problem in predicate.problems(for: thing) {
        #expect(problem.description.contains("its property of that name is written #SELF"), "\(problem)")
      }
      #expect(!predicate.problems(for: thing).isEmpty, "\(format)")
      let plain = NSPredicate(
        format: format.replacingOccurrences(of: "name ==", with: "title =="),
        argumentArray: format.contains("%K") ? ["SELF"] : [])
      let problem = try #require(plain.problems(for: item).last, "\(format)")
      #expect(problem.advice.contains("compare one of its properties"), "\(problem)")
      if !format.contains("name") { #expect(problem.keyPath == "SELF", "\(format)") }
    }
    #expect(NSPredicate(format: "#SELF == 'x' AND SELF != nil").problems(for: thing).isEmpty)
    for format in ["SELF.nam == 1", "ANY SELF.nam == 1", "self.nam == 'x'"] {
      #expect(NSPredicate(format: format).problems(for: thing).first?.nearest == ["name"], "\(format)")
    }
  }

  // MARK: Swift values

  @Test(arguments: StoreKind.allCases) func `a Swift value that nothing holds`(kind: StoreKind) throws {
    let values: [(Any, [String])] = [
      (Color.red, ["Color", "rawValue, of type String"]), (Level.low, ["Level", "rawValue, of type Int"]),
      (Bare.one, ["Bare", "a text or a number"]), (Point(), ["Point", "what the property holds of it"]),
      ((1, "a"), ["(Int, String)", "each as an argument"]), ([Color.red], ["Color", "rawValue"]),
      (Set([Color.red]), ["Color"]), (Optional(Color.red) as Any, ["Color", "rawValue"]),
      ({ 1 } as () -> Int, ["() -> Int"]),
    ]
    try Stack(kind).run { context in
      for isPending in [false, true] {
        if isPending { _ = context.make("Kinds", ["text": "red"]) }
        for (value, parts) in values {
          let isList: Bool = value is [Color] || value is Set<Color>
          for format in isList ? ["text IN %@"] : ["text == %@", "i16 > %@", "date != %@", "text LIKE %@"] {
            let predicate = NSPredicate(format: format, value)
            try expectError(predicate, "Kinds", parts + ["Swift type"], in: context)
            _ = predicate.description
          }
        }
        let object: NSManagedObject = context.make("Kinds", [:])
        let none: Color? = nil
        #expect(try count("Kinds", NSPredicate(format: "text == %@", none as Any), in: context) == 1)
        context.delete(object)
      }
    }
  }

  // MARK: Patterns

  private static let endless: [(pattern: String, text: String, cause: String)] = [
    ("(a+)+b", String(repeating: "a", count: 200), "backtracks"),
    ("(a|b)*c", String(repeating: "a", count: 5_000_000), "stack"),
  ]

  private func expectPatternError(_ error: any Error, _ pattern: String, _ text: String, _ cause: String) {
    for part in [pattern, "\(text.count) characters", cause, "a++"] {
      #expect(error.localizedDescription.contains(part), "\(error.localizedDescription)")
    }
    #expect(!error.localizedDescription.contains("aaaaaaaaaa"))
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `a pattern without an end is an error of the fetch`(kind: StoreKind, isPending: Bool) throws {
    try Stack(kind).run { context in
      for (pattern, text, cause) in Self.endless {
        let thing: NSManagedObject = context.make("Kinds", ["text": text])
        if !isPending { try context.save() }
        let format: String = isPending ? "text MATCHES %@" : "NOT text MATCHES %@"
        let error: any Error = try #require(throws: (any Error).self) {
          try count("Kinds", NSPredicate(format: format, pattern), in: context)
        }
        expectPatternError(error, pattern, text, cause)
        // A sound pattern after it, with the same texts.
        #expect(try count("Kinds", NSPredicate(format: "text MATCHES '.*'"), in: context) == 1)
        context.delete(thing)
        if !isPending { try context.save() }
      }
    }
  }

  @Test func `where nothing can be thrown it is false`() throws {
    for (pattern, text, cause) in Self.endless {
      let predicate = NSPredicate(format: "SELF MATCHES %@", pattern)
      let error: any Error = try #require(throws: (any Error).self) {
        try predicate.evaluateThrowing(with: text)
      }
      expectPatternError(error, pattern, text, cause)
      #expect(!predicate.evaluate(with: text))
    }
  }

  @Test(arguments: StoreKind.allCases) func `an invalid pattern is an error`(kind: StoreKind) throws {
    try Stack(kind).run { context in
      _ = context.make("Unique", ["code": "a", "note": "["])
      try context.save()
      let error: any Error = try #require(throws: (any Error).self) {
        try count("Unique", NSPredicate(format: "code MATCHES '['"), in: context)
      }
      for part in ["code MATCHES", "[", "regular expression"] {
        #expect(error.localizedDescription.contains(part), "\(error)")
      }
      // What a row holds makes no fetch fail (Decisions/0040).
      #expect(try count("Unique", NSPredicate(format: "code MATCHES note"), in: context) == 0)
    }
  }
}
