import CoreDataEvaluation
import CoreDataPredicates
import Foundation
import Testing

@testable import CoreDataModel
@testable import CoreDataModelChecking

/// Predicates over `PeopleModel`, and what is wrong with them.
@Suite struct PredicateProblemTests {
  struct Finding: Sendable, Equatable, CustomStringConvertible {
    var kind: PredicateProblem.Kind
    var part: String
    var nearest: [String] = []
    var isWarning: Bool = false
    var description: String { "\(isWarning ? "warning" : "error") \(kind) in \(part), near \(nearest)" }

    init(_ kind: PredicateProblem.Kind, _ part: String, _ nearest: String..., isWarning: Bool = false) {
      (self.kind, self.part, self.nearest, self.isWarning) = (kind, part, nearest, isWarning)
    }

    init(_ problem: PredicateProblem) {
      (kind, part, nearest) = (problem.kind, problem.part, problem.nearest)
      isWarning = problem.severity == .warning
    }
  }

  struct Sample: Sendable, CustomTestStringConvertible {
    var format: String
    var findings: [Finding]
    var testDescription: String { format }

    init(_ format: String, _ findings: Finding...) {
      (self.format, self.findings) = (format, findings)
    }
  }

  private static func findings(_ format: String, _ entity: String = "Person") throws -> [Finding] {
    try NSPredicate(parsing: format).problems(for: PeopleModel.entity(entity)).map(Finding.init)
  }

  // MARK: Keys

  static let keys: [Sample] = [
    Sample("nmae == 'x'", Finding(.unknownKey, "nmae", "name")),
    Sample("nmae == 'x' OR nmae == 'y'", Finding(.unknownKey, "nmae", "name")),
    Sample("boss.nmae == 'x'", Finding(.unknownKey, "boss.nmae", "name")),
    Sample("ANY pets.toys.prise > 3", Finding(.unknownKey, "pets.toys.prise", "price")),
    Sample("ALL friends.agee > 3", Finding(.unknownKey, "friends.agee", "age")),
    Sample("pets.@sum.wieght > 3", Finding(.unknownKey, "pets.@sum.wieght", "weight")),
    Sample("friends[FIRST].nmae == 'x'", Finding(.unknownKey, "friends[FIRST].nmae", "name")),
    Sample("address.cty == 'x'", Finding(.unknownKey, "address.cty", "city")),
    Sample("address.position.latitud > 1", Finding(.unknownKey, "address.position.latitud", "latitude")),
    Sample(
      "TERNARY(agee > 3, nmae, name) == 'x'", Finding(.unknownKey, "agee", "age"),
      Finding(.unknownKey, "nmae", "name")),
    Sample("name IN {nmae, 'x'}", Finding(.unknownKey, "nmae", "name")),
    Sample("lowercase(nmae) == 'x'", Finding(.unknownKey, "nmae", "name")),
    Sample(
      "FUNCTION(boss, 'valueForKey:', 'nmae') == 'x'",
      Finding(.unknownKey, "FUNCTION(boss, \"valueForKey:\" , \"nmae\")", "name")),
    Sample("FUNCTION(boss, 'nmae') == 'x'", Finding(.unknownKey, "FUNCTION(boss, \"nmae\")", "name")),
    // Plain keys inside a subquery address the fetched object.
    Sample("SUBQUERY(pets, $p, weight > 3).@count > 0", Finding(.unknownKey, "weight", "height")),
    Sample("SUBQUERY(pets, $p, $p.nmae == name).@count > 0", Finding(.unknownKey, "$p.nmae", "name")),
    Sample(
      "SUBQUERY(pets, $p, SUBQUERY($p.toys, $t, $t.prise > $p.wieght).@count > 0).@count > 0",
      Finding(.unknownKey, "$t.prise", "price"), Finding(.unknownKey, "$p.wieght", "weight")),
    // The inner variable hides the outer one.
    Sample(
      "SUBQUERY(pets, $x, SUBQUERY($x.toys, $x, $x.weight > 1).@count > 0 AND $x.weight > 1).@count > 0",
      Finding(.unknownKey, "$x.weight")),
    Sample("name.foo == 3", Finding(.keyBehindValue, "name.foo")),
    Sample("age.foo.bar == 3", Finding(.keyBehindValue, "age.foo.bar")),
    Sample("name.length.foo == 3", Finding(.keyBehindValue, "name.length.foo")),
    Sample("born.year == 3", Finding(.keyBehindValue, "born.year")),
    Sample("pets.@median.weight > 3", Finding(.unknownOperator, "pets.@median.weight")),
    Sample(
      "pets.@distinctUnionOfObject.name CONTAINS 'x'",
      Finding(
        .unknownOperator, "pets.@distinctUnionOfObject.name", "distinctUnionOfObjects", "distinctUnionOfSets",
        "distinctUnionOfArrays")),
    Sample("pets.@count.name > 3", Finding(.unknownOperator, "pets.@count.name")),
    Sample("pets.@sum > 3", Finding(.unknownOperator, "pets.@sum")),
  ]

  // MARK: One value and many

  static let values: [Sample] = [
    Sample("pets.name == 'x'", Finding(.toManyNotAllowed, "pets.name == \"x\"")),
    Sample("pets == nil", Finding(.toManyNotAllowed, "pets == nil")),
    Sample("name == pets", Finding(.toManyNotAllowed, "name == pets")),
    Sample("pets.weight > 3", Finding(.toManyNotAllowed, "pets.weight > 3")),
    Sample("pets.weight BETWEEN {1, 3}", Finding(.toManyNotAllowed, "pets.weight BETWEEN {1, 3}")),
    Sample("friends.name LIKE 'x*'", Finding(.toManyNotAllowed, "friends.name LIKE \"x*\"")),
    Sample("pets.name IN {'a'}", Finding(.toManyNotAllowed, "pets.name IN {\"a\"}")),
    Sample("pets.owner == SELF", Finding(.toManyNotAllowed, "pets.owner == SELF")),
    Sample(
      "ANY pets.weight > friends.height", Finding(.toManyNotAllowed, "ANY pets.weight > friends.height")),
    Sample("pets.weight + 1 > 3", Finding(.toManyNotAllowed, "pets.weight + 1")),
    Sample("lowercase(pets.name) == 'x'", Finding(.toManyNotAllowed, "lowercase:(pets.name)")),
    Sample(
      "SUBQUERY(pets, $p, $p.weight > 1) == 3",
      Finding(.toManyNotAllowed, "SUBQUERY(pets, $p, $p.weight > 1) == 3")),
    Sample(
      "neighbours.name == 'x'",
      Finding(.notStored, "neighbours.name", isWarning: true),
      Finding(.toManyNotAllowed, "neighbours.name == \"x\"")),
    Sample("ANY name == 'x'", Finding(.notCollection, "ANY name == \"x\"")),
    Sample("ALL boss.age > 3", Finding(.notCollection, "ALL boss.age > 3")),
    Sample("NONE age == 3", Finding(.notCollection, "ANY age == 3")),
    Sample(
      "SUBQUERY(pets, $p, ALL $p.weight > 3).@count > 0", Finding(.notCollection, "ALL $p.weight > 3")),
    Sample(
      "SUBQUERY(pets, $p, ANY $p.weight > 'a').@count > 0", Finding(.wrongType, "ANY $p.weight > \"a\"")),
    Sample("age IN 5", Finding(.notCollection, "age IN 5")),
    Sample("SELF IN boss", Finding(.notCollection, "SELF IN boss")),
    Sample("age CONTAINS 3", Finding(.notCollection, "age CONTAINS 3")),
    Sample("name.@count > 3", Finding(.notCollection, "name.@count")),
    Sample("boss.@max.age > 3", Finding(.notCollection, "boss.@max.age")),
    Sample("ANY pets.toys.@count > 3", Finding(.notCollection, "ANY pets.toys.@count > 3")),
    Sample("@count > 3", Finding(.notCollection, "@count")),
    Sample(
      "SUBQUERY(boss, $p, $p.age == 1).@count > 0", Finding(.notCollection, "SUBQUERY(boss, $p, $p.age == 1)")
    ),
    Sample("name[0] == 'x'", Finding(.notCollection, "name[0]")),
    Sample("boss[FIRST] == nil", Finding(.notCollection, "boss[FIRST]")),
    Sample("age[SIZE] > 3", Finding(.notCollection, "age[SIZE]")),
    Sample("pets[0].name == 'x'", Finding(.notOrdered, "pets[0]")),
    Sample("pets[LAST] == nil", Finding(.notOrdered, "pets[LAST]")),
    Sample("ANY (age UNION pets) == nil", Finding(.notCollection, "age UNION pets")),
    Sample("ANY ({1, 2} INTERSECT {2}) == 2", Finding(.notCollection, "{1, 2} INTERSECT {2}")),
  ]

  // MARK: Kinds of values

  static let kinds: [Sample] = [
    // Finding D: a text for a value of another kind is a mistake, not a comparison that is never true.
    Sample("code != 'x'", Finding(.wrongType, "code != \"x\"")),
    Sample("site == 'http://x'", Finding(.wrongType, "site == \"http://x\"")),
    Sample("age IN {'a', 'b'}", Finding(.wrongType, "age IN {\"a\", \"b\"}")),
    Sample("boss == 'x'", Finding(.wrongType, "boss == \"x\"")),
    Sample("name < 5", Finding(.wrongType, "name < 5")),
    Sample("3 >= name", Finding(.wrongType, "3 >= name")),
    Sample("born > 3", Finding(.wrongType, "born > 3")),
    Sample("site < site", Finding(.wrongType, "site < site")),
    Sample("boss > 3", Finding(.wrongType, "boss > 3")),
    Sample("boss < boss.boss", Finding(.wrongType, "boss < boss.boss")),
    Sample("active < 'x'", Finding(.wrongType, "active < \"x\"")),
    Sample("name.length BEGINSWITH 'x'", Finding(.wrongType, "name.length BEGINSWITH \"x\"")),
    Sample("age LIKE 'a*'", Finding(.wrongType, "age LIKE \"a*\"")),
    Sample("name ENDSWITH 3", Finding(.wrongType, "name ENDSWITH 3")),
    Sample("age MATCHES 'a+'", Finding(.wrongType, "age MATCHES \"a+\"")),
    Sample("name MATCHES '[a'", Finding(.invalidPattern, "name MATCHES \"[a\"")),
    Sample("age IN name", Finding(.wrongType, "age IN name")),
    Sample("name CONTAINS 3", Finding(.wrongType, "name CONTAINS 3")),
    Sample("age BETWEEN {'a', 'b'}", Finding(.wrongType, "age BETWEEN {\"a\", \"b\"}")),
    Sample("age BETWEEN {1, name}", Finding(.wrongType, "age BETWEEN {1, name}")),
    Sample("age BETWEEN {1}", Finding(.missingBounds, "age BETWEEN {1}")),
    Sample("age BETWEEN 3", Finding(.missingBounds, "age BETWEEN 3")),
    Sample("age BETWEEN boss", Finding(.missingBounds, "age BETWEEN boss")),
    Sample("ANY pets.name < 3", Finding(.wrongType, "ANY pets.name < 3")),
    Sample("ALL friends.pets.toys.price > 'a'", Finding(.wrongType, "ALL friends.pets.toys.price > \"a\"")),
    Sample("NONE pets.weight BEGINSWITH 'a'", Finding(.wrongType, "ANY pets.weight BEGINSWITH \"a\"")),
    Sample(
      "SUBQUERY(pets, $p, $p.weight > name).@count > 'a'",
      Finding(.wrongType, "$p.weight > name"),
      Finding(.wrongType, "SUBQUERY(pets, $p, $p.weight > name).@count > \"a\"")),
    Sample("TERNARY(age > 'a', 1, 2) == 3", Finding(.wrongType, "age > \"a\"")),
    Sample(
      "TERNARY(age > 3, 1, 2) BEGINSWITH 'x'", Finding(.wrongType, "TERNARY(age > 3, 1, 2) BEGINSWITH \"x\"")),
    Sample("name + 1 > 3", Finding(.wrongType, "name + 1")),
    Sample("born - 60 > CAST(0, 'NSDate')", Finding(.wrongType, "born - 60")),
    Sample("-boss == 3", Finding(.wrongType, "-boss")),
    Sample("lowercase(age) == 'x'", Finding(.wrongType, "lowercase:(age)")),
    Sample("abs(born) > 3", Finding(.wrongType, "abs:(born)")),
    Sample("count(name) > 3", Finding(.wrongType, "count:(name)")),
    Sample("sum(pets.name) > 3", Finding(.wrongType, "sum:(pets.name)")),
    Sample("max(pets) == nil", Finding(.wrongType, "max:(pets)")),
    Sample("pets.@sum.name > 3", Finding(.wrongType, "pets.@sum.name")),
    Sample("pets.@max.owner == SELF", Finding(.wrongType, "pets.@max.owner")),
    Sample(
      "pets.@distinctUnionOfArrays.name CONTAINS 'x'", Finding(.wrongType, "pets.@distinctUnionOfArrays.name")
    ),
    Sample("age TOKENMATCHES 'x'", Finding(.wrongType, "age TOKENMATCHES \"x\"")),
    Sample("age UTI-CONFORMS-TO 'x'", Finding(.wrongType, "age UTI-CONFORMS-TO \"x\"")),
    Sample("friends['a'].name == 'x'", Finding(.wrongType, "friends[\"a\"]")),
    Sample("CAST(boss, 'NSDate') > born", Finding(.wrongType, "CAST(boss, \"NSDate\")")),
    Sample("CAST(photo, 'NSNumber') > 3", Finding(.wrongType, "CAST(photo, \"NSNumber\")")),
    Sample(
      "FUNCTION(age, 'hasPrefix:', 'x') == YES", Finding(.wrongType, "FUNCTION(age, \"hasPrefix:\" , \"x\")")),
    Sample("address.city > 3", Finding(.wrongType, "address.city > 3")),
  ]

  // MARK: Names that nobody knows, and what can't be evaluated

  static let names: [Sample] = [
    Sample("CAST(name, 'NSDat') > born", Finding(.unknownType, "CAST(name, \"NSDat\")", "NSDate")),
    Sample(
      "FUNCTION(name, 'hasPrefiks:', 'X') == YES",
      Finding(.unknownFunction, "FUNCTION(name, \"hasPrefiks:\" , \"X\")", "hasPrefix:")),
    Sample("name isEqul: 3", Finding(.unknownFunction, "name isEqul: 3", "isEqual:")),
    Sample("age > $limit", Finding(.unboundVariable, "$limit")),
    Sample("$who.name == name", Finding(.unboundVariable, "$who")),
    Sample(
      "SUBQUERY(pets, $p, $p.weight > $q).@count > 0 AND $p == nil",
      Finding(.unboundVariable, "$q"), Finding(.unboundVariable, "$p")),
    Sample("boss.$key == 3", Finding(.unboundVariable, "$key")),
    Sample("ANYKEY == 3", Finding(.notEvaluable, "ANYKEY")),
    Sample("FETCH(3, 4, NO) == 3", Finding(.wrongType, "FETCH(3, 4, 0)")),
    Sample(
      "FETCH($a, boss, NO) == 3", Finding(.unboundVariable, "$a"), Finding(.wrongType, "FETCH($a, boss, 0)")),
    Sample("($x := boss) != nil AND $x.nmae == 'x'", Finding(.unknownKey, "$x.nmae", "name")),
    Sample("boss.friends[0] == nil", Finding(.notEvaluable, "boss.friends[0]")),
  ]

  // MARK: Warnings

  static let warnings: [Sample] = [
    Sample("born == 3", Finding(.neverEqual, "born == 3", isWarning: true)),
    Sample("ANY pets == SELF", Finding(.neverEqual, "ANY pets == SELF", isWarning: true)),
    Sample("pets CONTAINS boss", Finding(.neverEqual, "pets CONTAINS boss", isWarning: true)),
    Sample("pets.name CONTAINS 3", Finding(.neverEqual, "pets.name CONTAINS 3", isWarning: true)),
    Sample("pets == friends", Finding(.neverEqual, "pets == friends", isWarning: true)),
    Sample("name == {1, 2}", Finding(.neverEqual, "name == {1, 2}", isWarning: true)),
    Sample("address == 3", Finding(.neverEqual, "address == 3", isWarning: true)),
    Sample("nick == 'x'", Finding(.notStored, "nick", isWarning: true)),
    Sample("boss.whatever > 3", Finding(.notStored, "boss.whatever", isWarning: true)),
    Sample("neighbours.@count > 3", Finding(.notStored, "neighbours.@count", isWarning: true)),
  ]

  @Test(arguments: keys + values + kinds + names + warnings)
  func `every problem is found, with the part and the nearest names`(sample: Sample) throws {
    #expect(try Self.findings(sample.format) == sample.findings)
  }

  // MARK: Nothing wrong

  static let sound: [String] = [
    "name == 'x' AND age > 3 AND height < 2.5 AND born > CAST(0, 'NSDate') AND active == YES AND salary >= 3",
    "name == nil AND age != nil AND boss == nil AND address == nil AND photo == nil AND site == nil",
    "active == 1 AND active > 0.5 AND age == YES AND salary BETWEEN {1, height}",
    "name BEGINSWITH[cd] 'x' OR name ENDSWITH 'x' OR name CONTAINS 'x' OR name LIKE '*x' OR name MATCHES 'a+'",
    "name BEGINSWITH nil OR age LIKE nil OR age IN nil OR age BETWEEN nil",
    "name IN 'abc' OR name IN {'a', nil} OR name IN pets.name OR 'x' IN pets.name OR SELF IN pets.owner",
    "name.length > 3 AND name.uppercaseString == 'X' AND site.host == 'x' AND born.timeIntervalSince1970 > 3",
    "boss == SELF OR boss.boss == SELF.objectID OR boss.#self == SELF OR boss IN friends OR ANY friends == boss",
    "pets.@count == 0 AND pets[SIZE] > 2 AND count(pets) > 3 AND count(SUBQUERY(pets, $p, $p.weight > 1)) > 1",
    "pets.@sum.weight > 3 AND pets.@avg.weight < 4 AND pets.@max.name > 'a' AND friends.@min.born < now()",
    "ANY pets.toys.price > 3 AND ALL friends.pets.name BEGINSWITH 'x' AND NONE pets.name IN {'x'}",
    "ANY pets.name == name AND ALL pets.owner == SELF AND SOME friends.boss.name == 'x'",
    "ANY pets.@distinctUnionOfObjects.name == 'x'",
    "friends[0].name == 'x' AND friends[FIRST] == boss AND friends[LAST].age > 3 AND friends[age] == nil",
    "SUBQUERY(pets, $p, $p.name == name AND ANY $p.toys.price > height).@count > 0",
    "ANY SUBQUERY(pets, $p, $p.weight > 1).name == 'x'",
    "SUBQUERY(pets.name, $n, $n BEGINSWITH name).@count > 0",
    "ANY (pets UNION pets).name == 'x' AND (friendOf MINUS friends).@count > 0",
    "TERNARY(age > 3, name, 'x') BEGINSWITH 'x' AND TERNARY(age > 3, nil, 3) == 3",
    "lowercase(name) == 'x' AND length(name) > 3 AND abs(age) > 3 AND modulus:by:(age, 2) == 1 AND (age & 3) == 1",
    "age + height * salary - 2 > 3 AND sum(pets.weight) / count(pets) > 1 AND -age < 0 AND age ** 2 > 4",
    "median(pets.weight) > 2 AND mode(pets.weight) CONTAINS 2 AND stddev(pets.weight) > 2 AND max(pets.name) > 'a'",
    // What depends on the value is none of the checker's business.
    "age / 0 == 1 AND age + nil == 3 AND CAST(name, 'NSDate') > born AND friends[99] == nil AND randomn:(0) == 1",
    "CAST(name, 'NSDate') > born AND CAST(name, 'NSNumber') > 3 AND CAST(name, 'NSUUID') == code",
    "CAST(born, 'NSNumber') > 3 AND CAST(age, 'NSString') BEGINSWITH '1' AND CAST(age, 'Date') > born",
    "FUNCTION(name, 'uppercaseString') == 'X' AND FUNCTION(name, 'hasPrefix:', 'x') == YES AND name isEqual: 'x'",
    "FUNCTION(boss, 'name') == 'x' AND FUNCTION(boss, 'valueForKeyPath:', 'boss.name') == 'x'",
    "FUNCTION(born, 'dateByAddingTimeInterval:', 60) < now() AND FUNCTION(friends, 'objectAtIndex:', 99) == boss",
    "address.city == 'x' AND address.position.latitude > 3 AND ANY pets.owner.address.city == 'x'",
    "address['city'] == 'x' AND upper == 'X'",
    // Nothing is known of these.
    "thing == 3 AND thing.foo.bar > 3 AND thing BEGINSWITH 'x' AND ANY thing == 1 AND entity.name == 'Person'",
    "$FETCH_SOURCE.name == name AND $FETCH_SOURCE == boss AND $FETCHED_PROPERTY.name == 'x'",
    "pets == pets AND friends == friends AND {name, 'x'} == {name, 'x'} AND noindex(name) == 'x'",
    "($x := age + 1) > 3 AND $x < height",
    "name TOKENMATCHES 'x' AND pets.name TOKENMATCHES 'x' AND name UTI-EQUALS 'a' AND name UTI-CONFORMS-TO 'a'",
    "TRUEPREDICATE AND (FALSEPREDICATE OR NOT name == 'x')",
  ]

  @Test(arguments: sound)
  func `nothing is found in sound predicates`(format: String) throws {
    #expect(try Self.findings(format).isEmpty)
  }

  // MARK: What the text says

  @Test func `a key of a sub-entity names that entity`() throws {
    for (key, heir) in [("title", "Employee"), ("perks", "Chief"), ("boss.perks", "Chief")] {
      let problem = try #require(
        NSPredicate(parsing: "\(key) == 'x'").problems(for: PeopleModel.entity("Person")).first)
      #expect(problem.kind == .unknownKey && problem.nearest.isEmpty)
      #expect(problem.advice.contains("The sub-entity \(heir) has it"))
    }
    #expect(try Self.findings("perks == 'x' AND title == 'x' AND ANY reports.name == 'x'", "Chief").isEmpty)
  }

  @Test func `the text names the place, what is wrong and the way out`() throws {
    func texts(_ format: String) throws -> [String] {
      try NSPredicate(parsing: format).problems(for: PeopleModel.entity("Person")).map(\.description)
    }
    #expect(
      try texts("boss.nmae == 'x' AND name < 5") == [
        "boss.nmae: keypath boss.nmae not found in entity Person: Employee has no property 'nmae'. Did you mean \"name\"?",
        "name < 5: < can't compare name (a string) with a number. Numbers, strings, dates, UUIDs and data are ordered "
          + "among themselves; CAST(…, 'NSNumber') and its like convert between them.",
      ])
    #expect(try texts("pets == nil").first?.contains("Count them: count(pets) == 0.") == true)
    #expect(try texts("nick == 'x'").first?.contains("evaluate this in memory") == true)
  }

  @Test func `the facts stand in fields`() throws {
    let unknown = try #require(
      NSPredicate(parsing: "ANY pets.nmae == 'x'").problems(for: PeopleModel.entity("Person")).first)
    #expect(unknown.keyPath == "pets.nmae" && unknown.name == "nmae" && unknown.entity == "Pet")
    #expect(unknown.severity == .error && unknown.property == nil)
    let wrong = try #require(
      NSPredicate(parsing: "boss.name > 3").problems(for: PeopleModel.entity("Person")).first)
    #expect(wrong.keyPath == "boss.name" && wrong.entity == "Person" && wrong.property == "name")
    let variable = try #require(
      NSPredicate(parsing: "age > $limit").problems(for: PeopleModel.entity("Person")).first)
    #expect(variable.name == "limit" && variable.keyPath == nil)
  }

  // MARK: Other things to check

  @Test func `a tree built by hand may call what no format can`() {
    let call: ExpressionNode = .function(target: nil, name: "lenght:", arguments: [.keyPath("name")])
    let predicate = makePredicate(
      .comparison(ComparisonNode(left: call, right: .constant(.integer(1)), comparison: .equalTo)))
    let problems: [PredicateProblem] = predicate.problems(for: PeopleModel.entity("Person"))
    #expect(
      problems.map(Finding.init) == [
        Finding(.unknownFunction, "lenght:(name) == 1".replacingOccurrences(of: " == 1", with: ""), "length:")
      ])
  }

  @Test func `objects among the constants are known by their entity`() throws {
    final class Row: EntityBearing {
      let entity: NSEntityDescription
      init(_ name: String) { entity = PeopleModel.entity(name) }
    }
    func findings(_ format: String, _ rows: Any...) throws -> [PredicateProblem.Kind] {
      try NSPredicate(parsing: format, arguments: rows).problems(for: PeopleModel.entity("Person")).map(
        \.kind)
    }
    #expect(try findings("boss == %@", Row("Chief")).isEmpty)
    #expect(try findings("boss == %@", Row("Person")).isEmpty, "it may be a Chief")
    #expect(try findings("boss == %@", Row("Pet")) == [.neverEqual])
    #expect(try findings("boss IN %@", [Row("Pet"), Row("Toy")]) == [.neverEqual])
    #expect(try findings("boss IN %@", [Row("Pet"), Row("Chief")]).isEmpty)
    #expect(try findings("pets CONTAINS %@", Row("Pet")).isEmpty)
    #expect(try findings("ANY pets == %@", Row("Toy")) == [.neverEqual])
  }

  @Test func `expressions, sort descriptors and whole requests are checked too`() throws {
    let person: NSEntityDescription = PeopleModel.entity("Person")
    func kinds(_ problems: [PredicateProblem]) -> [PredicateProblem.Kind] { problems.map(\.kind) }
    #expect(kinds(try NSExpression(parsing: "name + agee").problems(for: person)) == [.unknownKey])
    #expect(kinds(try NSExpression(parsing: "name + age").problems(for: person)) == [.wrongType])
    for (key, expected) in [
      ("name", []), ("boss.name", []), ("pets.@count", []), ("boss", []), ("self", []), ("name.length", []),
      ("nmae", [.unknownKey]), ("pets.name", [.toManyNotAllowed]), ("pets", [.toManyNotAllowed]),
      ("site", []), ("nick", [.notStored]), ("age.foo", [.keyBehindValue]),
    ] as [(String, [PredicateProblem.Kind])] {
      #expect(kinds(NSSortDescriptor(key: key, ascending: true).problems(for: person)) == expected, "\(key)")
    }
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
    request.predicate = NSPredicate(format: "nmae == 'x'")
    request.sortDescriptors = [NSSortDescriptor(key: "agee", ascending: true)]
    request.propertiesToFetch = ["name", "hieght"]
    request.relationshipKeyPathsForPrefetching = ["pets.toys", "pets.toyss"]
    #expect(
      request.problems(in: PeopleModel.shared).map(\.nearest) == [["name"], ["age"], ["height"], ["toys"]])
    let other = NSFetchRequest<any NSFetchRequestResult>(entityName: "Persn")
    #expect(
      other.problems(in: PeopleModel.shared).map { [$0.kind.rawValue] + $0.nearest } == [
        ["unknownEntity", "Person"]
      ])
    #expect(
      kinds(NSFetchRequest<any NSFetchRequestResult>().problems(in: PeopleModel.shared)) == [.unknownEntity])
  }

  @Test func `requests in a model know their variables`() {
    let model: NSManagedObjectModel = PeopleModel.make()
    #expect(model.problems().filter { $0.message.contains("fetch request") } == [])
    let person: NSEntityDescription? = model.entitiesByName["Person"]
    let template = NSFetchRequest<any NSFetchRequestResult>()
    template.entity = person
    template.predicate = NSPredicate(format: "name == $name AND age == 'x' AND agee == $age")
    model.setFetchRequestTemplate(template, forName: "search")
    let fetched = person?.propertiesByName["neighbours"] as? NSFetchedPropertyDescription
    fetched?.fetchRequest?.predicate = NSPredicate(format: "name > $FETCH_SOURCE.age AND age > $other")
    let found: [String] = model.problems().filter { $0.message.contains("fetch request") }.map {
      "\($0.severity) \($0.part ?? ""): \($0.message.prefix(50))"
    }
    #expect(
      found == [
        "error neighbours: its fetch request doesn't fit: name > $FETCH_SOURC",
        "error neighbours: its fetch request doesn't fit: $other: the variabl",
        "error search: its fetch request doesn't fit: age == \"x\": age (a ",
        "error search: its fetch request doesn't fit: agee: keypath agee ",
      ])
  }

  // MARK: Hostile predicates

  @Test func `the deepest predicates are checked on half a megabyte of stack`() {
    let levels: Int = TreeLimits.depth - 10
    func nested(_ open: String, _ innermost: String, _ close: String, _ count: Int) -> String {
      String(repeating: open, count: count) + innermost + String(repeating: close, count: count)
    }
    let samples: [(String, PredicateProblem.Kind)] = [
      (nested("NOT ", "nmae == 1", "", levels), .unknownKey),
      (Array(repeating: "nmae", count: levels).joined(separator: " + ") + " == 1", .unknownKey),
      (nested("abs(", "nmae", ")", levels) + " == 1", .unknownKey),
      ("ANY " + nested("{", "nmae", "}", levels) + " == 1", .unknownKey),
      (nested("TERNARY(age == 1, 1, ", "nmae", ")", levels / 2) + " == 1", .unknownKey),
      (nested("SUBQUERY(", "nmae", ", $x, age == 1)", levels / 2) + ".@count == 1", .unknownKey),
      (nested("FUNCTION(", "nmae", ", 'uppercaseString')", levels / 2) + " == 1", .unknownKey),
      (nested("age == 1 AND (name == 'x' OR (", "nmae == 1", "))", levels / 2), .unknownKey),
      (nested("abs(", "name", ")", levels) + " == 1", .wrongType),
    ]
    let thread = Thread {
      for (format, kind) in samples {
        do {
          let problems: [PredicateProblem] = try NSPredicate(parsing: format).problems(
            for: PeopleModel.entity("Person"))
          #expect(problems.map(\.kind) == [kind], "\(format.prefix(60))")
          #expect(problems.allSatisfy { $0.part.count <= 401 })
        } catch {
          Issue.record("\(format.prefix(60)): \(error)")
        }
      }
    }
    thread.stackSize = 512 << 10
    thread.start()
    while !thread.isFinished { sched_yield() }
  }

  @Test func `of very many problems the first hundred are listed`() throws {
    let format: String = (0..<20_000).map { "key\($0) == 1" }.joined(separator: " OR ")
    let problems: [PredicateProblem] = try NSPredicate(parsing: format).problems(
      for: PeopleModel.entity("Pet"))
    #expect(problems.count == PredicateCheck.mostProblems)
    #expect(problems.first?.name == "key0")
  }

  @Test func `selectors that are suggested exist`() {
    for selector in PredicateFunctions.selectors {
      #expect(SampleEvaluation.isKnown(selector: selector), "\(selector)")
    }
    #expect(!SampleEvaluation.isKnown(selector: "frobnicate:"))
  }
}
