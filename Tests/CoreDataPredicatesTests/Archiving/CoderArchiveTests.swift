import CoreDataArchives
import Foundation
import Testing

@testable import CoreDataPredicates

/// Predicates as members of what Foundation's archiver and unarchiver handle.
struct CoderArchiveTests {
  @Test func `Foundation's archiver carries predicates inside other objects`() throws {
    let predicate: NSPredicate = NSPredicate(format: "ANY a.b LIKE[c] %@ AND c > 1.5", "x*")
    let expression: NSExpression = NSExpression(format: "a + %@", 1)
    let descriptor: NSSortDescriptor = NSSortDescriptor(key: "a", ascending: false)
    let content: NSArray = [predicate, expression, descriptor, NSPredicate(format: "a == 1"), "text"]
    let data: Data = try NSKeyedArchiver.archivedData(withRootObject: content, requiringSecureCoding: true)
    let again = try NSKeyedUnarchiver.unarchivedObject(
      ofClasses: [
        NSArray.self, NSString.self, NSPredicate.self, NSExpression.self, NSSortDescriptor.self,
      ], from: data)
    #expect(again as? NSArray == content)
  }

  @Test func `an archiver told by key does as well, and our own reader reads what it wrote`() throws {
    let predicate: NSPredicate = NSPredicate(format: "a == %@", Decimal(string: "1.25")!)
    let archiver: NSKeyedArchiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.encode(predicate, forKey: NSKeyedArchiveRootObjectKey)
    let data: Data = archiver.encodedData
    #expect(try NSPredicate(archivedData: data) == predicate)
    let unarchiver: NSKeyedUnarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
    unarchiver.requiresSecureCoding = true
    let again = unarchiver.decodeObject(of: NSComparisonPredicate.self, forKey: NSKeyedArchiveRootObjectKey)
    #expect(again == predicate)
  }

  @Test func `a block inside something larger makes Foundation's archiver throw, not stop`() throws {
    let content: NSArray = [NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate { _, _ in true })]
    let error: PredicateError? = #expect(throws: PredicateError.self) {
      try NSKeyedArchiver.archivedData(withRootObject: content as Any, requiringSecureCoding: true)
    }
    #expect(error?.description.contains("block predicate") == true)
  }

  // MARK: As Apple's systems archive

  /// An archive of an array as Apple's systems write it: predicates part by part.
  private func archivedArray(_ roots: [any PredicateArchiving]) throws -> Data {
    var archive: KeyedArchiveWriter = KeyedArchiveWriter()
    let nodes: [PlistNode] = try roots.map { root in
      switch root {
      case let predicate as NSPredicate:
        try PredicateArchiveWriter(label: "test").write(predicate, to: &archive)
      case let expression as NSExpression:
        try PredicateArchiveWriter(label: "test").write(expression.node, to: &archive)
      case let descriptor as NSSortDescriptor:
        try SortDescriptorArchiveForm.write(descriptor, label: "test", to: &archive)
      default: KeyedArchiveWriter.null
      }
    }
    let list: PlistNode = archive.array(nodes)
    return archive.data(root: list)
  }

  private func unarchivedArray(_ data: Data) throws -> [Any]? {
    try NSKeyedUnarchiver.unarchivedObject(
      ofClasses: [NSArray.self, NSPredicate.self, NSExpression.self, NSSortDescriptor.self], from: data)
      as? [Any]
  }

  @Test func `Foundation's unarchiver decodes what Apple's archiver wrote`() throws {
    let formats: [String] = [
      "TRUEPREDICATE", "a == 1", "a.b != 'x' AND (NOT c IN {1, 2.5} OR FALSEPREDICATE)", "ALL a > $x.b.c",
      "SUBQUERY(a, $x, $x.b BETWEEN {1, 2}).@count > 0", "TERNARY(a == nil, 1, b + 2) == c[0]",
      "a hasPrefix: 'b'",
      "FUNCTION(a, 'stringByAppendingString:', 'b') LIKE[cd] 'c'", "a UNION b == c", "a[FIRST] == NULL",
      "$a.$b == 1",
      "a == CAST(1, 'NSDate')", "SELF MATCHES '.*'", "a ENDSWITH 'x'", "ANYKEY == 1", "now() > a",
    ]
    let expressions: [NSExpression] = PredicateArchiveTests.expressions.map { NSExpression(node: $0) }
      // Their class alone tells a call of valueForKey: from a key path, and a coder doesn't tell the class.
      .filter { !$0.description.contains("\"valueForKey:\" ,") }
    let roots: [any PredicateArchiving] =
      formats.map { NSPredicate(format: $0) } + expressions + [NSSortDescriptor(key: "a", ascending: true)]
    let again: [Any] = try #require(try unarchivedArray(archivedArray(roots)))
    #expect(again.count == roots.count)
    for (root, decoded) in zip(roots, again) {
      switch root {
      case let predicate as NSPredicate:
        #expect((decoded as? NSPredicate)?.predicateNode() == predicate.predicateNode(), "\(root)")
      default: #expect((decoded as? NSObject)?.isEqual(root) == true, "\(root) came back as \(decoded)")
      }
    }
  }

  @Test func `constants of most kinds come through a coder`() throws {
    let values: [PredicateValue] = PredicateArchiveTests.values.filter { value in
      switch value {
      // Foundation on Linux can't hash decimals, and forgets the base of a URL.
      case .decimal, .set: false
      case .url(let url): url.baseURL == nil
      default: true
      }
    }
    let roots: [NSExpression] = values.map { NSExpression(node: .constant($0)) }
    let again: [NSExpression] = try #require(
      try unarchivedArray(archivedArray(roots)) as? [NSExpression])
    for (root, decoded) in zip(roots, again) { #expect(decoded == root) }
  }

  @Test func `what a coder decodes refuses to be evaluated until it is allowed`() throws {
    let again: [Any] = try #require(
      try unarchivedArray(
        archivedArray([NSPredicate(format: "a == 1"), NSSortDescriptor(key: "a", ascending: true)])))
    let predicate: NSPredicate = try #require(again[0] as? NSPredicate)
    #expect(throws: PredicateError.self) { try predicate.evaluateThrowing(with: ["a": 1]) }
    predicate.allowEvaluation()
    #expect(try predicate.evaluateThrowing(with: ["a": 1]))
    let descriptor: NSSortDescriptor = try #require(again[1] as? NSSortDescriptor)
    #expect(throws: PredicateError.self) { try descriptor.compareThrowing(["a": 1], to: ["a": 2]) }
  }

  @Test func `a predicate that contains itself is an error for Foundation's unarchiver too`() throws {
    var archive: KeyedArchiveWriter = KeyedArchiveWriter()
    let place: Int = archive.reserve()
    let members: PlistNode = archive.array([.uid(place)])
    archive.fill(
      place, ["NSCompoundPredicate", "NSPredicate", "NSObject"],
      ["NSCompoundPredicateType": .integer(0), "NSSubpredicates": members])
    let data: Data = archive.data(root: .uid(place))
    #expect(throws: (any Error).self) {
      try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSPredicate.self], from: data)
    }
  }

  @Test func `Foundation's unarchiver decodes a hundred levels on half a megabyte of stack`() {
    let failure: String? = onSmallStack {
      do {
        var node: PredicateNode = .constant(true)
        for _ in 0..<99 { node = .compound(.not, [node]) }
        let whole: NSPredicate = makePredicate(node)
        let again: Any? = try NSKeyedUnarchiver.unarchivedObject(
          ofClasses: [NSPredicate.self], from: whole.archivedData())
        return again as? NSPredicate == whole ? nil : "another predicate came back"
      } catch {
        return "\(error)"
      }
    }
    #expect(failure == nil)
  }

  @Test func `shared parts that multiply are an error for Foundation's unarchiver too`() throws {
    var archive: KeyedArchiveWriter = KeyedArchiveWriter()
    var layer: PlistNode = try PredicateArchiveWriter(label: "test").write(.keyPath("a"), to: &archive)
    for _ in 0..<8 {
      let list: PlistNode = archive.array([PlistNode](repeating: layer, count: 10))
      layer = archive.instance(
        ["NSAggregateExpression", "NSExpression", "NSObject"],
        ["NSExpressionType": .integer(14), "NSCollection": list])
    }
    let data: Data = archive.data(root: layer)
    #expect(throws: (any Error).self) {
      try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSExpression.self], from: data)
    }
  }
}
