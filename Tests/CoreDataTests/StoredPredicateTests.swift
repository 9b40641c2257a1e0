import CoreData
import CoreDataGraph
import CoreDataPredicates
import Foundation
import StackSupport
import Testing

/// Each predicate gives the same objects from SQLite, from the store in memory, and evaluated over all
/// objects; where evaluation throws for an object, what Decisions/0013 says.
@Suite
struct StoredPredicateTests {
  /// A predicate over an entity, and whether SQLite does all of it.
  struct Sample: CustomTestStringConvertible, Sendable {
    var topic: String
    var entity: String = "Writer"
    var formats: [String]
    var isSQL: Bool = true

    var testDescription: String { topic }
  }

  private static let samples: [Sample] = [
    Sample(
      topic: "arithmetic",
      formats: [
        "age + 1 > 2", "age - score < 0", "age * 2 == 4", "age / 2 == 1", "score / 2 > 0.5", "age ** 2 == 4",
        "-age > 0", "big + 1 > 0", "big - 1 < 0", "-big > 0", "big * big > 0", "age + 1 == nil",
        "age + 1 != 3",
        "NOT (age + 1 == 3)", "age / 0 == 1", "age / 0 == nil", "score / 0 > 5", "score / 0 < 0",
        "modulus:by:(age, 2) == 1",
        "modulus:by:(age, 0) == nil", "modulus:by:(score, 2) > 0.1", "fee + 1 > 2", "fee / 3 > 0.5",
        "fee * fee == 2.25",
        "fee + score > 3", "fee - age >= 0", "fee / 0 == nil", "age / age == 1", "score + age == nil",
        "rate * 2 == 3",
        "0.1 + 0.2 < score", "fee + 0.2 == 0.5",
        "CAST(fee, 'NSDecimalNumber') + CAST('0.2', 'NSDecimalNumber') == CAST('0.5', 'NSDecimalNumber')",
        "age + nil == nil", "age > 3 - 2", "1 + 2 == 3", "1 / 0 == nil",
      ]),
    Sample(
      topic: "functions of numbers",
      formats: [
        "sqrt(score) > 1", "abs(age) == 1", "abs(big) > 5", "abs(fee) > 3", "floor(score) == -2",
        "ceiling(score) == -1",
        "trunc(score) == -1", "floor(fee) == -4", "ceiling(fee) == 1", "exp(age) > 2", "ln(score) > 0",
        "log(score) == 2",
        "abs(score) > 1", "floor(age) == 2", "sqrt(fee) > 1", "raise:toPower:(score, 2) > 2",
        "noindex:(age) == 2",
        "random() >= 0 AND random() < 1", "randomn:(5) < 5", "randomn:(age) < 5", "now() > born",
        "born < now()",
      ]),
    Sample(
      topic: "bits",
      formats: [
        "age & 1 == 1", "age | 4 == 5", "age ^ 1 == 3", "age << 2 == 8", "age >> 1 == 1",
        "onesComplement(age) == -3",
        "big & 255 == 249", "score & 1 == 0", "fee | 0 == 1", "age << 70 == 0", "age << -1 == 1",
        "big >> 63 == -1",
      ]),
    Sample(
      topic: "functions of text",
      formats: [
        "lowercase(name) == 'ada'", "uppercase(name) == 'ADA'", "uppercase(name) == 'SS'",
        "length(name) == 3",
        "canonical(name) == 'Äda'", "name.length > 2", "name.lowercaseString == nick.lowercaseString",
        "name.uppercaseString == 'BOB'",
        "name.capitalizedString == 'Bob B'", "digits.intValue == 12", "digits.doubleValue > 3",
        "digits.boolValue == YES",
        "name.description == name", "name.length == nil", "lowercase(name).length == 3",
        "uppercase(lowercase(name)) == 'ADA'",
        "mentor.name.length == 3", "lowercase(name) BEGINSWITH 'a'", "lowercase(name) IN {'ada', 'bob'}",
        "lowercase(nil) == nil", "name == lowercase(name)",
      ]),
    Sample(
      topic: "keys of values",
      formats: [
        "born.timeIntervalSinceReferenceDate > 500", "born.timeIntervalSince1970 > 978307200",
        "born.timeIntervalSinceNow < 0",
        "uid.UUIDString ENDSWITH '3'", "site.absoluteString CONTAINS 'q=1'", "site.host == 'a.b'",
        "site.path == '/1'",
        "site.query == 'q=0'", "site.lastPathComponent == '2'", "age.stringValue == '2'",
        "score.intValue == 2", "score.stringValue == '2.5'",
        "fee.doubleValue > 1", "fee.intValue == -3", "age.doubleValue / 2 == 1.5", "score.boolValue == YES",
        "photo.length == 2",
        "age.description == '2'", "fee.stringValue == '1.5'", "active.intValue == 1", "big.doubleValue > 0",
        "born.description CONTAINS '2001'",
        "age.#self == 2", "name.#self.length == 3",
      ]),
    Sample(
      topic: "CAST",
      formats: [
        "CAST(born, 'NSNumber') > 500", "CAST(age, 'NSDate') == CAST(2, 'NSDate')",
        "CAST(stamp, 'NSDate') == CAST(0, 'NSDate')",
        "CAST(stamp, 'NSDate') > CAST(0, 'NSDate')", "CAST(stamp, 'NSDate') == nil",
        "born == CAST(stamp, 'NSDate')", "CAST(digits, 'NSNumber') == 12",
        "CAST(digits, 'NSNumber') / 2 == 6", "CAST(digits, 'NSNumber') / 2 == 1.75",
        "CAST(digits, 'NSNumber') == nil", "CAST(age, 'NSString') == '2'",
        "CAST(score, 'NSString') == '2.5'", "CAST(fee, 'NSString') == '1.5'",
        "CAST(born, 'NSString') BEGINSWITH '2001'",
        "CAST(uid, 'NSString') ENDSWITH '3'", "CAST(photo, 'NSString') == '<00ff>'",
        "CAST(site, 'NSString') CONTAINS 'q=1'",
        "CAST(digits, 'NSDecimalNumber') == 3.5", "CAST(score, 'NSDecimalNumber') == 2.5",
        "CAST(name, 'NSUUID') == nil",
        "CAST(CAST(uid, 'NSString'), 'NSUUID') == uid", "CAST(CAST(site, 'NSString'), 'NSURL') == site",
        "CAST(fee, 'NSDate') > CAST(1, 'NSDate')",
        "CAST(born, 'NSDecimalNumber') == 1000.5", "CAST(CAST(born, 'NSNumber'), 'NSString') == '2000'",
        "CAST(born, 'NSNumber') / 3 > 300",
        "CAST(digits, 'NSNumber') + age > 10", "CAST(digits, 'NSNumber') > score",
        "CAST(nil, 'NSNumber') == nil", "CAST(age, 'NSNumber') == 2",
        "modulus:by:(CAST(digits, 'NSNumber'), 5) == 2", "-CAST(digits, 'NSNumber') == 7",
        "CAST(CAST(digits, 'NSNumber'), 'NSString') == '100'",
      ]),
    Sample(
      topic: "nil",
      formats: [
        "name == nil", "name != nil", "age < nil", "age <= nil", "age >= nil", "name LIKE nil", "age IN nil",
        "nil IN {1, nil}",
        "name == nick", "name != nick", "age <= score", "age >= score", "NOT (age < score)",
        "age BETWEEN {nil, 5}", "nil == nil", "nil != age",
        "mentor == nil", "mentor.name == nil", "mentor.name != 'Ada'", "mentor.mentor.name == nil",
        "mentor <= nil", "mentor.age + 1 == nil",
        "name IN {'Ada', nil}", "name BEGINSWITH nick", "name == age", "name != age", "uid == name",
      ]),
    Sample(
      topic: "comparisons of kinds",
      formats: [
        "name == 5", "name != 5", "born == 0", "born != 0", "uid == 5", "site == 5", "photo == 5",
        "active == YES", "active == 1", "age == 2.0", "score == 2", "fee == 2", "fee == 1.5", "fee == 0.1",
        "big == 9223372036854775807",
        "big < 9.3e18", "rate == 0.5", "age IN {'2', 2}", "1 == 1.0", "'a' == 1", "mentor == 3",
        "score < fee", "fee < score",
        "fee <= age", "active < age",
      ]),
    Sample(
      topic: "text",
      formats: [
        "name ==[c] 'ADA'", "name ==[d] 'Ada'", "name ==[cd] 'ADA'", "name !=[cd] 'ada'", "name <[c] 'B'",
        "name >=[cd] nick", "name ==[c] nick",
        "name BEGINSWITH 'A'", "name BEGINSWITH[cd] 'ad'", "name ENDSWITH[c] 'A'", "name CONTAINS[d] 'ad'",
        "name CONTAINS '*'", "'Adam' CONTAINS name",
        "name IN 'Ada and Bob'", "name IN[c] {'ADA', 'BOB'}", "name LIKE 'A*'", "name LIKE[c] '*d?'",
        "name LIKE 'a\\\\*c'", "name LIKE[cd] 'ad*'",
        "name LIKE nick", "name MATCHES 'A.*'", "name MATCHES[c] 'ad.'", "name MATCHES[d] '.da'",
        "name MATCHES pattern", "NOT (name MATCHES pattern)",
        "name LIKE pattern", "name LIKE[c] pattern", "name ==[n] 'Ada'", "name ==[l] 'Ada'",
        "name BEGINSWITH[l] 'A'", "name >[l] 'b'",
        "name BEGINSWITH ''", "name CONTAINS ''", "name ENDSWITH nick", "name BETWEEN {'A', 'C'}",
        "name BETWEEN[c] {'A', 'C'}",
        "name < 'b'", "'Bob' > name", "name IN[cd] {'ADA', nil}",
      ]),
    Sample(
      topic: "bounds and lists",
      formats: [
        "age BETWEEN {1, 3}", "age BETWEEN {1, score}", "score BETWEEN {age, age + 2}",
        "born BETWEEN {CAST(0, 'NSDate'), now()}", "fee BETWEEN {0, 1.5}",
        "fee BETWEEN {age, score}", "2 BETWEEN {age, score}", "name BETWEEN {nick, 'z'}", "age IN {1, 2, 3}",
        "age IN {1, score, nil}", "score IN {age, age * 2}",
        "name IN {nick, 'Ada'}", "2 IN {age, score}", "{age, score} CONTAINS 2", "age IN {}",
        "fee IN {1.5, 2}", "uid IN {uid}", "NOT (age IN {1, nil})",
        "NOT (age BETWEEN {1, score})", "age BETWEEN {TERNARY(active == YES, 0, 2), 3}",
        "age IN {TERNARY(active == YES, 0, 2), 3}",
      ]),
    Sample(
      topic: "TERNARY",
      formats: [
        "TERNARY(age > 1, name, nick) == 'Ada'", "TERNARY(age > 1, 'yes', 'no') == 'yes'",
        "TERNARY(age == nil, 0, age) + 1 == 1",
        "TERNARY(age > 1, name, age) == 'Ada'", "TERNARY(age > 1, 1, 'x') == 'x'",
        "TERNARY(name == nil, '', name).length == 0",
        "TERNARY(age > 1, mentor, SELF).name == 'Ada'", "TERNARY(age > 1, mentor, nil) == nil",
        "name IN TERNARY(age > 1, {'Ada'}, {'Bob', 'Cy'})",
        "TERNARY(age > 1, books, mentor.books).@count > 2", "TERNARY(age > 1, name, nick) IN {'Ada', 'Bob'}",
        "'Ada' CONTAINS TERNARY(age > 1, name, nick)",
        "TERNARY(age > 1, name, nick) LIKE 'A*'", "TERNARY(age > 1, age, score) > 1",
        "TERNARY(age > 1, age, score) / 2 == 1", "TERNARY(age > 1, fee, age) > 1",
        "ANY TERNARY(age > 1, books, wishes).pages > 50",
        "TERNARY(age > 1, TERNARY(active == YES, 1, 2), 3) == 2",
        "TERNARY(1 == 1, name, age) == 'Ada'", "TERNARY(age > 1, name, nil) == nil",
        "TERNARY(age > 1, name, nil) == 'Ada'",
      ]),
    Sample(
      topic: "quantifiers",
      formats: [
        "ANY books.pages > 50", "SOME books.pages > 50", "ALL books.pages > 20", "NONE books.pages > 50",
        "NOT ANY books.pages > 50", "ANY books.title == nil",
        "ALL books.title != nil", "ANY books.title IN {'Ab', nil}", "ANY books == nil",
        "ANY books.title BEGINSWITH[c] 'a'", "ANY books.chapters.title == 'c1'",
        "ALL books.chapters.length > 0", "NONE books.chapters.length == 2", "ANY wishes.title == 'Ab'",
        "ALL wishes.pages >= 20", "ANY wishes.title == nil",
        "ANY wishes.chapters.title == 'c0'", "ANY wishes.author.name == 'Ada'", "ANY wishes.author == nil",
        "ANY wishes.author.books.pages > 90",
        "ANY books.wishers.name == 'Bob'", "ANY tags.label == 't1'", "ANY tags.group.name == 'g1'",
        "ANY tags.group == nil", "ANY tags.group.tags.label == 't0'",
        "ALL tags.group.tags.rank < 2", "ANY tags.group.tags.label == nil", "ANY mentor.books.pages > 50",
        "ALL mentor.books.pages > 50", "ANY friends.age > 1",
        "ANY friends.friends.name == 'Ada'", "ANY pupils.pupils.age > 0",
        "ANY mentor.pupils.tags.label == 't2'", "ANY books.title.length == 2",
        "ANY books.pages BETWEEN {age, 50}", "ANY books.title == name", "ANY books.author == SELF",
        "ANY books.author == mentor", "ANY {1, 2, 3} == age",
        "ALL {1, 2} > age", "ANY {age, score} > 2", "ANY books.@distinctUnionOfObjects.title == 'Ab'",
        "ANY books.@distinctUnionOfObjects.title == nil",
        "ANY books.printed > CAST(2000, 'NSDate')", "ANY books.cost == 1.15",
        "ANY wishes.author.mentor.name != 'Ada'",
      ]),
    Sample(
      topic: "membership",
      formats: [
        "'Ab' IN books.title", "books.title CONTAINS 'Ab'", "name IN books.title", "nil IN books.title",
        "nil IN wishes.title", "nick IN mentor.books.title",
        "mentor IN friends", "SELF IN mentor.pupils", "mentor.pupils CONTAINS SELF",
        "books.author CONTAINS SELF", "50 IN books.pages", "age IN tags.rank",
        "'c1' IN books.chapters.title", "books.chapters.title CONTAINS nil", "mentor IN {mentor.mentor, nil}",
        "SELF IN mentor.friends", "'AB' IN[c] books.title",
        "5 IN wishes.pages", "nil IN tags.group", "'Ab' IN books.@distinctUnionOfObjects.title",
        "age IN books.@unionOfObjects.pages", "NOT ('Ab' IN books.title)",
        "TERNARY(age > 1, 'Ab', 'ab') IN books.title", "'Ab' IN mentor.books.title",
        "NOT (nil IN wishes.title)", "1.15 IN books.cost",
      ]),
    Sample(
      topic: "aggregates",
      formats: [
        "books.@count > 2", "books.@count == 0", "mentor.books.@count == nil", "mentor.books.@count == 0",
        "books.@sum.pages > 100", "books.@avg.pages > 40", "books.@min.pages == 10",
        "books.@max.price > 3", "books.@max.title == 'äb'", "books.@min.printed == CAST(0, 'NSDate')",
        "books.@sum.cost > 3", "books.@avg.cost > 1", "books.@max.cost == 3.25",
        "books.@sum.pages == 0", "books.@avg.pages == 0", "books.@min.pages == nil",
        "books.chapters.@count > 3", "wishes.chapters.@count > 2", "books.chapters.@sum.length > 4",
        "wishes.chapters.@avg.length > 1", "tags.group.@count == 1", "tags.group.tags.@count == 3",
        "tags.group.tags.@sum.rank > 2", "books.@sum.chapters.@count > 4",
        "books.@max.chapters.@count == 3", "books.@max.title.length == 2", "books.@sum.author.age > 3",
        "mentor.books.@sum.pages == nil", "books.title.@count > 1", "wishes.title.@count > 1",
        "books.@avg.price * 2 > 3", "books.@sum.pages / books.@count > 40", "books.@count == tags.@count",
        "books.@max.pages > mentor.books.@max.pages", "count(books.@distinctUnionOfObjects.title) == 2",
        "count(books) > 2", "count(books.title) == 2", "count(wishes.title) == 3",
        "count:(mentor.books) == 0", "sum(books.pages) > 100", "sum:(wishes.pages) > 100",
        "sum(wishes.pages) == nil",
        "max(books.pages) == 90", "min:(books.pages) == 10", "average(books.pages) > 40",
        "average(wishes.pages) > 40", "median(books.pages) == 40", "median:(wishes.pages) > 40",
        "stddev(books.pages) > 20",
        "stddev(wishes.price) > 1", "sum(books.cost) > 2", "average(books.cost) > 1.5",
        "max(books.cost) == 3.25", "median(books.cost) > 1", "count(mode(books.pages)) > 2",
        "50 IN mode(books.pages)",
        "sum({age, score, 1}) > 3", "max({age, score}) == 2", "min({age, score, 1}) == 1",
        "average({age, score}) > 1", "count({age, score}) == 2", "median({age, 1, score}) == 1",
        "stddev({age, score}) > 1",
        "sum({age, fee}) > 1", "max(mentor.books.pages) > 50", "sum(mentor.books.pages) == nil",
        "mentor.tags.@count > 1", "friends.@count > 0", "friends.@max.age > 1",
        "count(books.@distinctUnionOfSets.chapters) > 3",
        "wishes.@sum.pages > 100", "sum(books.author.age) > 1", "max(books.title) == 'äb'",
        "books.printed.@max.#self > CAST(2000, 'NSDate')",
      ]),
    Sample(
      topic: "subqueries",
      formats: [
        "SUBQUERY(books, $b, $b.pages > 50).@count > 0", "SUBQUERY(books, $b, $b.pages > 50).@count == 0",
        "SUBQUERY(books, $b, $b.title == name).@count > 0",
        "SUBQUERY(books, $b, $b.author == SELF).@count > 1",
        "SUBQUERY(books, $b, ANY $b.chapters.title == 'c1').@count > 1",
        "SUBQUERY(books, $b, SUBQUERY($b.chapters, $c, $c.length > 1).@count > 1).@count > 0",
        "SUBQUERY(books, $b, SUBQUERY($b.chapters, $c, $c.length == $b.pages / 10).@count > 0).@count > 0",
        "SUBQUERY(mentor.books, $b, $b.pages > 50).@count == 0",
        "SUBQUERY(books.chapters, $c, $c.length > 1).@count > 2",
        "SUBQUERY(tags.group.tags, $t, $t.rank > 0).@count > 1",
        "SUBQUERY(wishes, $w, $w.pages > age).@count > 1",
        "SUBQUERY(tags, $t, $t.writers.@count > 10).@count > 1",
        "count(SUBQUERY(books, $b, $b.pages > 50)) > 1", "SUBQUERY(books, $b, $b.pages > 50)[SIZE] > 1",
        "SUBQUERY(wishes, $w, $w.pages > 20)[0].title == 'Ab'",
        "SUBQUERY(wishes, $w, $w.pages > 20)[FIRST].title == 'Ab'",
        "ANY SUBQUERY(books, $b, $b.pages > 20).title == 'Ab'",
        "SUBQUERY(books, $b, $b.pages > 20).@max.price > 3",
        "sum(SUBQUERY(books, $b, $b.price > 1).pages) > 50",
        "SUBQUERY(books, $b, $b.title == nil).@count == 1", "mentor IN SUBQUERY(friends, $f, $f.age > 0)",
        "SUBQUERY(books.title, $t, $t BEGINSWITH 'a').@count > 0",
        "SUBQUERY(pupils, $p, $p.mentor.name == $p.nick OR $p.books.@count > age).@count > 0",
        "SUBQUERY(books, $x, SUBQUERY(wishes, $x, $x.pages > 50).@count > 0 AND $x.pages > 10).@count > 0",
        "SUBQUERY(wishes.author, $a, $a == nil).@count > 0",
        "SUBQUERY(tags.group, $g, $g.name == nil).@count == 0",
        "SUBQUERY(books, $b, $b.chapters.@count > 2 AND ALL $b.chapters.length > 0).@count > 0",
        "SUBQUERY(books, $b, $b IN wishes).@count > 0",
        "SUBQUERY(SUBQUERY(books, $b, $b.pages > 20), $c, $c.price > 1).@count > 0",
        "SUBQUERY({1, 2, 3}, $n, $n == age).@count > 0",
        "SUBQUERY(books, $b, $b.entity.name == 'Novel').@count > 1",
      ]),
    Sample(
      topic: "positions",
      formats: [
        "wishes[0].title == 'Ab'", "wishes[FIRST].title == 'Ab'", "wishes[LAST].title == 'ab'",
        "wishes[1].pages > 50", "wishes[SIZE] == 3", "books[SIZE] > 2", "wishes[7] == nil",
        "(wishes.title)[0] == 'Ab'",
        "(wishes.title)[LAST] == nil", "(wishes.chapters)[FIRST].title == 'c0'", "wishes[0].author == SELF",
        "wishes[0] == wishes[LAST]", "wishes[0].chapters.@count > 1", "ANY wishes[0].chapters.title == 'c1'",
        "objectFrom:withIndex:(wishes, 1).title == 'cd'", "wishes[0].author.name == 'Ada'",
        "{age, score}[0] == 2", "wishes[-1] == nil", "(mentor.wishes)[0].title == 'Ab'",
        "SUBQUERY(pupils, $p, ($p.wishes)[0].title == 'Ab').@count > 0",
      ]),
    Sample(
      topic: "sets",
      formats: [
        "'Ab' IN (books.title UNION wishes.title)", "'Ab' IN (books.title INTERSECT wishes.title)",
        "'Ab' IN (books.title MINUS wishes.title)", "mentor IN (friends UNION pupils)",
        "SELF IN (mentor.pupils MINUS mentor.friends)",
        "ANY (friends INTERSECT pupils) == mentor", "count(books.title UNION mentor.books.title) > 3",
        "count(books.title MINUS mentor.books.title) > 1",
        "count(books.title INTERSECT mentor.books.title) > 0",
        "ALL (books.pages MINUS mentor.books.pages) > 20",
        "'Ab' IN (mentor.books.title UNION books.title)",
      ]),
    Sample(
      topic: "objects and entities", entity: "Book",
      formats: [
        "SELF == nil", "author == nil", "author.mentor == author", "SELF != nil", "entity.name == 'Novel'",
        "entity.name != 'Novel'", "entity.name LIKE 'N*'", "author.entity.name == 'Writer'",
        "author.#self.name == 'Ada'", "SELF.title == 'Ab'",
        "self.pages > 20", "SELF IN author.books", "author != author.mentor", "wishers.@count > 1",
        "ANY wishers == author", "author IN wishers", "entity == author.entity", "author.entity == nil",
      ]),
    Sample(
      topic: "the rest in memory",
      formats: [
        "FUNCTION(name, 'hasPrefix:', 'A') == YES", "age > 1 AND FUNCTION(name, 'hasPrefix:', 'A') == YES",
        "memo == nil", "scan == nil", "name TOKENMATCHES 'ad'", "digits IN tokenize:using:(name, 'c')",
        "ANY (books UNION wishes).pages > 80", "CAST(digits, 'NSNumber') + fee > 1",
        "(wishes)[TERNARY(age > 0, 1, 0)].title == 'Ab'", "50 IN mode(wishes.pages)",
        "age == 2 AND FUNCTION(name, 'lowercaseString') == 'ada'",
        "name hasPrefix: 'A'", "count(books.@unionOfArrays.chapters) > 3",
        "wishes.title == {'Ab'} OR age == 2",
      ], isSQL: false),
  ]

  @Test(arguments: samples)
  func `a predicate gives the same objects from every store as in memory`(sample: Sample) throws {
    let stacks: [Stack] = try StoreKind.allCases.map { kind in
      let stack = try Stack(kind, model: Library.model)
      try stack.elsewhere { try Library.fill($0) }
      return stack
    }
    for format in sample.formats {
      let predicate: Foundation.NSPredicate = try NSPredicate(parsing: format, arguments: [])
      var answers: [StoreKind: [String]] = [:]
      for stack in stacks {
        try stack.elsewhere { context in
          let request: NSFetchRequest<NSManagedObject> = context.request(
            NSManagedObject.self, sample.entity, predicate)
          do {
            let found: [NSManagedObject] = try context.fetch(request)
            let keys: [String] = found.map(Self.name).sorted()
            answers[stack.kind] = keys
            #expect(try context.count(for: request) == keys.count, "\(format)")
            try Self.compare(found, predicate, context, sample.entity, "\(stack.kind): \(format)")
            if stack.kind == .sqlite {
              let rest: [String]? = try request.explain(in: context).first?.evaluatedInMemory
              #expect(rest?.isEmpty == sample.isSQL || rest?.isEmpty == true, "\(format): \(rest ?? [])")
            }
          } catch {
            Issue.record("\(stack.kind): \(format): \(error) \(error.localizedDescription)")
          }
        }
      }
      #expect(answers[.sqlite] == answers[.inMemory], "\(format)")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an object's id names it, changed or not`(kind: StoreKind) throws {
    let stack = try Stack(kind, model: Library.model)
    try stack.elsewhere { try Library.fill($0) }
    try stack.elsewhere { context in
      let books: [NSManagedObject] = try context.all(
        NSManagedObject.self, "Book", try NSPredicate(parsing: "author != nil"))
      let (kept, changed): (NSManagedObject, NSManagedObject) = (books[0], books[1])
      changed.setValue("changed", forKey: "title")
      for book in [kept, changed] {
        let author: NSManagedObject = try #require(book.value(forKey: "author") as? NSManagedObject)
        let samples: [(String, [Any?])] = [
          ("objectID == %@", [book.objectID]), ("objectID == %@", [book]), ("SELF == %@", [book.objectID]),
          ("objectID IN %@", [[book.objectID]]),
          ("SELF == %@ AND author.objectID == %@", [book, author.objectID]),
          ("SELF == %@ AND objectID IN author.books.objectID", [book]),
        ]
        for (format, arguments) in samples {
          let predicate: Foundation.NSPredicate = try NSPredicate(parsing: format, arguments: arguments)
          let found: [NSManagedObject] = try context.all(NSManagedObject.self, "Book", predicate)
          #expect(found == [book], "\(format)")
        }
      }
    }
  }

  /// Objects by what they are, since keys differ from store to store.
  private static func name(_ object: NSManagedObject) -> String {
    let keys: [String] = object.entity.attributesByName.keys.sorted()
    return keys.map { "\(object.value(forKey: $0) ?? "nil")" }.joined(separator: "|")
  }

  /// What a store gives against what evaluation over all objects gives, where it does not throw.
  private static func compare(
    _ found: [NSManagedObject], _ predicate: Foundation.NSPredicate, _ context: NSManagedObjectContext,
    _ entity: String,
    _ text: String
  ) throws {
    if predicate.formatText.contains("random") { return }
    let chosen: Set<NSManagedObject> = Set(found)
    var wrong: [String] = []
    for object in try context.all(NSManagedObject.self, entity) {
      let holds: Bool
      do {
        holds = try predicate.evaluateThrowing(with: object)
      } catch {
        holds = try PredicateProgram(predicate.predicateNode()).evaluate(object)
      }
      if holds != chosen.contains(object) {
        wrong.append("\(holds ? "missing" : "too many"): \(name(object))")
      }
    }
    #expect(wrong.isEmpty, "\(text): \(wrong.count) wrong, \(wrong.prefix(2))")
  }
}
