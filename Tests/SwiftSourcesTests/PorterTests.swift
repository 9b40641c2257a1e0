import Foundation
import TestSupport
import Testing

@testable import SwiftSources

struct PorterTests {
  private func port(_ text: String, _ style: Porter.Style = .kept) throws -> Porter.Result {
    try #require(Porter([SourceText(path: "Test.swift", text)], style: style).results().first)
  }

  @Test(
    arguments: [
      // Attributes on lines of their own, with others, with arguments.
      ("@objc(Item)\npublic class Item: NSManagedObject {\n}\n", "public class Item: NSManagedObject {\n}\n"),
      ("  @objc\n  @nonobjc public class func f() {}\n", "  public class func f() {}\n"),
      // Finding: the last one before the end of the line stayed.
      ("@objc(Item) @objcMembers\npublic class A: B {}\n", "public class A: B {}\n"),
      ("class A {\n  @objc dynamic\r\n  var x: Int { 1 }\n}\n", "class A {\n  var x: Int { 1 }\n}\n"),
      ("class A { @objc dynamic\n  var x: Int { 1 } }\n", "class A { \n  var x: Int { 1 } }\n"),
      (
        "@objcMembers class A {}\r\n@objc\r\nenum B: Int { case a }\r\n",
        "class A {}\r\nenum B: Int { case a }\r\n"
      ),
      (
        "class A { @objc(addTagsObject:) @NSManaged func addToTags(_ value: Tag) }",
        "class A { @NSManaged func addToTags(_ value: Tag) }"
      ),
      (
        "class A { @NSManaged @objc dynamic public var x: Int // @objc dynamic\n}",
        "class A { @NSManaged public var x: Int // @objc dynamic\n}"
      ),
      ("f(dynamic: 3); let s = \"@objc #keyPath(A.b)\"; /* @objc */ x.dynamic = y", nil),
      // Names of properties.
      (
        "f(#keyPath(Recipe.title), #keyPath(Shop.Recipe.author.name), #keyPath(title))",
        "f(\"title\", \"author.name\", \"title\")"
      ),
      ("let s = \"\\(#keyPath(Recipe.title)) == %@\"", "let s = \"\\(\"title\") == %@\""),
      (
        "class A { @objc(done) @NSManaged var isDone: Bool }\nlet k = #keyPath(A.isDone)",
        "class A { var isDone: Bool { get { managedValue(\"done\") } set { setManagedValue(newValue, \"done\") } } }\n"
          + "let k = \"done\""
      ),
      ("NSStringFromSelector(#selector(getter: Recipe.title))", "\"title\""),
      (
        "NSSortDescriptor(key: \"a\", ascending: true, selector: #selector(NSString.localizedStandardCompare(_:)))",
        "NSSortDescriptor(key: \"a\", ascending: true, selector: Selector(\"localizedStandardCompare:\"))"
      ),
      (
        "let a = NSFetchRequest<NSManagedObject>(entityName: name(1)) as! NSFetchRequest<Map<A, B>>, b = 1",
        "let a = NSFetchRequest<Map<A, B>>(entityName: name(1)), b = 1"
      ),
      (
        "let r = Recipe.fetchRequest() as! NSFetchRequest<Recipe>", nil
      ),
      // Modules.
      (
        "import UIKit\nlet x = 1\n",
        "#if canImport(UIKit)\n  import UIKit\n#else\n  import Foundation\n#endif\nlet x = 1\n"
      ),
      (
        "  import os.log\nlet x = 1\n",
        "  #if canImport(os)\n    import os\n  #else\n    import Foundation\n  #endif\nlet x = 1\n"
      ),
      ("import CoreData.CoreDataDefines\nimport Shop.Cart\n", "import CoreData\nimport Shop.Cart\n"),
      // Names of C and of Objective-C.
      ("f(NSEC_PER_SEC, 2 * USEC_PER_SEC)", "f(UInt64(1_000_000_000), 2 * UInt64(1_000_000))"),
      (
        "let n = \"\\(T.self.classForCoder())\" + \"\\(Item.classForCoder())\"",
        "let n = \"\\(T.self)\" + \"\\(Item.self)\""
      ),
      ("let n = x.classForCoder; let m = self.classForCoder()", nil),
      // Requests.
      (
        "func f() { return a.request as! NSFetchRequest<Self> }",
        "func f() { return NSFetchRequest<Self>(a.request) }"
      ),
      (
        "super.init(fetchRequest: request as! NSFetchRequest<NSFetchRequestResult>, x: 1)",
        "super.init(fetchRequest: NSFetchRequest<NSFetchRequestResult>(request), x: 1)"
      ),
      ("import Shop\nlet d: Date? = nil\n", "import Shop\nimport Foundation\nlet d: Date? = nil\n"),
      ("import XCTest\nlet d: Date? = nil\n", nil),
      (
        "import Foundation\nlet m: NSManagedObjectModel? = nil\n",
        "import Foundation\nimport CoreData\nlet m: NSManagedObjectModel? = nil\n"
      ),
      ("import Foundation\nenum NSManagedObjectModels {}\nlet m: NSManagedObjectModels? = nil\n", nil),
      (
        "import GLKit.GLKMath\nlet x = 1\n",
        "#if canImport(GLKit)\n  import GLKit\n#else\n  import Foundation\n#endif\nlet x = 1\n"
      ),
      (
        "a.b = c\n  return request as! NSFetchRequest<Self>",
        "a.b = c\n  return NSFetchRequest<Self>(request)"
      ),
      // Observers.
      (
        "class A { func f(n: Notification) {}; func g() { c.addObserver(self, selector: #selector(self.f(n:)), name: .x, object: nil) } }",
        "class A { func f(n: Notification) {}; func g() { c.addObserver(self, method: { $0.f(n: $1) }, name: .x, object: nil) } }"
      ),
      (
        "func f() {}; c.addObserver(self, selector: #selector(f), name: .x, object: nil)",
        "func f() {}; c.addObserver(self, method: { observer, _ in observer.f() }, name: .x, object: nil)"
      ),
      (
        "func f(_ n: Notification) {}; c.addObserver(a, selector: #selector(A.f), name: .x, object: nil)",
        "func f(_ n: Notification) {}; c.addObserver(a, method: { $0.f($1) }, name: .x, object: nil)"
      ),
      // Foundation's classes.
      (
        "import Foundation\nclass T: Foundation.ValueTransformer {}",
        "import Foundation\nimport CoreData\nclass T: CoreData.ValueTransformer {}"
      ),
      (
        "import Foundation\nlet p = NSPredicate(format: \"a == 1\")",
        "import Foundation\nimport CoreData\nlet p = NSPredicate(format: \"a == 1\")"
      ),
      ("import CoreData\nimport Foundation\nlet p = NSPredicate(format: \"a == 1\")", nil),
      // A transformer has a required init().
      (
        "import CoreData\n  final class T: ValueTransformer {\n    init(x: Int) {}\n  }\n",
        "import CoreData\n  final class T: ValueTransformer {\n"
          + "      required init() { fatalError(\"This transformer is registered as an instance: it has no init().\") }\n"
          + "\n    init(x: Int) {}\n  }\n"
      ),
      (
        "import CoreData\nclass T: ValueTransformer { override init() { super.init() } }",
        "import CoreData\nclass T: ValueTransformer { required init() { super.init() } }"
      ),
      ("import CoreData\nclass T: ValueTransformer { convenience init(x: Int) { self.init() } }", nil),
      // Classes are named where an object is made of a type that is a value.
      (
        "extension NSPersistentStoreCoordinator { public static func f() throws { do { g(self.init(managedObjectModel: m)) } } }",
        "extension NSPersistentStoreCoordinator { public static func f() throws { do { g(NSPersistentStoreCoordinator(managedObjectModel: m)) } } }"
      ),
      ("extension NSManagedObjectModel { static var x = 1; convenience init(x: Int) { self.init() } }", nil),
      // Overrides in extensions.
      (
        "public class A: B {}\nextension A {\n  public override func willSave() { super.willSave() }\n}",
        "public class A: B {\n    public override func willSave() { willSaveInExtension() }\n}\n"
          + "extension A {\n  public func willSaveInExtension() { super.willSave() }\n}"
      ),
      (
        "class A: B { }\nextension A { override class func v(_ x: [Int], forKey k: String) throws -> Int { 1 } }",
        "class A: B {\n    override class func v(_ x: [Int], forKey k: String) throws -> Int { try vInExtension(x, forKey: k) }\n }\n"
          + "extension A { class func vInExtension(_ x: [Int], forKey k: String) throws -> Int { 1 } }"
      ),
      // Methods that check one property.
      (
        "public class A: B {\n  @objc func validateTitle(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}\n}",
        "public class A: B {\n    public override func validateValue(_ value: inout Any?, forKey key: String) throws { "
          + "try super.validateValue(&value, forKey: key); if key == \"title\" { try validateManagedValue(&value, by: validateTitle) } }\n"
          + "\n  func validateTitle(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}\n}"
      ),
      (
        "class A { func f(_ n: Notification) throws {}; func g() { c.addObserver(self, selector: #selector(f(_:)), name: .x, object: nil) } }",
        "class A { func f(_ n: Notification) throws {}; func g() { c.addObserver(self, method: { try? $0.f($1) }, name: .x, object: nil) } }"
      ),
      (
        "class A { func f(_ n: N) {}\nfunc g() {\n  let s = #selector(A.f(_:))\n  c.addObserver(self, selector: s, name: .x, object: nil)\n"
          + "  c.addObserver(self, selector: s, name: .y, object: nil)\n} }",
        "class A { func f(_ n: N) {}\nfunc g() {\n  c.addObserver(self, method: { $0.f($1) }, name: .x, object: nil)\n"
          + "  c.addObserver(self, method: { $0.f($1) }, name: .y, object: nil)\n} }"
      ),
      // Protocols that weak references are to.
      (
        "@objc public protocol P {\n}\n@objc protocol Q: P {}",
        "public protocol P: AnyObject {\n}\nprotocol Q: P {}"
      ),
      // Requirements that types need not have.
      (
        "@objc public protocol P {\n  @objc optional func f(_ x: Int, y: Int)\n  func g()\n  @objc\n  optional func h()\n}\n"
          + "func k(p: P?) { p?.f?(1, y: 2); p?.g(); p?.h?() }\n",
        "public protocol P: AnyObject {\n  func f(_ x: Int, y: Int)\n  func g()\n  func h()\n}\n\n"
          + "extension P {\n  public func f(_ x: Int, y: Int) {}\n  public func h() {}\n}\n"
          + "func k(p: P?) { p?.f(1, y: 2); p?.g(); p?.h() }\n"
      ),
      // Requests for other results than objects.
      (
        "let r = request as! NSFetchRequest<NSDictionary>, s = Item.fetchRequest() as! NSFetchRequest<NSDictionary>",
        "let r = NSFetchRequest<NSDictionary>(request), s = NSFetchRequest<NSDictionary>(Item.fetchRequest())"
      ),
      // Parts of Foundation.
      (
        "import Foundation\nlet s = URLSession.shared\n",
        "import Foundation\n#if canImport(FoundationNetworking)\n  import FoundationNetworking\n#endif\nlet s = URLSession.shared\n"
      ),
      ("let u = NSURL.fileURL(withPath: p)", "let u = URL(fileURLWithPath: p)"),
      // What the Objective-C runtime finds by a name.
      (
        "final class P: NSEntityMigrationPolicy {\n  @objc func label(name: String, _ n: Int) -> String { name }\n"
          + "  @objc(a:) private func b(_ x: Any?) {}\n}\nextension P { @objc(plain) func c() -> Int { 1 } }\n",
        "final class P: NSEntityMigrationPolicy {\n"
          + "    override class var expressionFunctions: [PolicyFunction] {\n      super.expressionFunctions + [\n"
          + "        PolicyFunction(\"labelWithName::\") { (object: P, value0: String, value1: Int) in object.label(name: value0, value1) },\n"
          + "        PolicyFunction(\"plain\") { (object: P) in object.c() },\n      ]\n    }\n\n"
          + "  func label(name: String, _ n: Int) -> String { name }\n"
          + "  private func b(_ x: Any?) {}\n}\nextension P { func c() -> Int { 1 } }\n"
      ),
      (
        "class A: NSManagedObject {\n  @NSManaged var name: String\n  @objc var initial: String { String(name.prefix(1)) }\n"
          + "  @objc var other: Int { 1 }\n}\nlet k = #keyPath(A.initial)\n",
        "class A: NSManagedObject {\n    override class var customAccessors: [String: AnyKeyPath] {\n"
          + "      super.customAccessors.merging([\"initial\": \\A.initial]) { $1 }\n    }\n\n  @NSManaged var name: String\n"
          + "  var initial: String { String(name.prefix(1)) }\n  var other: Int { 1 }\n}\nlet k = \"initial\"\n"
      ),
      // Models call the class by its other name.
      (
        "@objc(CDMark)\npublic class Mark: NSManagedObject {\n  @NSManaged var a: String?\n}\n",
        "public class Mark: NSManagedObject {\n    public final class CDMark: ManagedClassAlias { public override class var original: "
          + "NSManagedObject.Type { Mark.self } }\n\n  @NSManaged var a: String?\n}\n"
      ),
      ("@objc(Other)\nclass Plain {\n}\n", "class Plain {\n}\n"),
      // A class that Codegen makes lists its accessors in an extension.
      (
        "import CoreData\nextension Book {\n  @objc var initial: String { \"a\" }\n}\nlet k = \"initial\"\n",
        "import CoreData\nextension Book {\n  var initial: String { \"a\" }\n}\nlet k = \"initial\"\n\n"
          + "extension Book: AccessorListing {\n  public static var listedAccessors: [String: AnyKeyPath] {\n"
          + "    [\"initial\": \\Book.initial]\n  }\n}\n"
      ),
      // Somebody has thought of this platform, or nothing is missing.
      ("#if os(iOS)\nimport UIKit\n#elseif os(macOS)\nimport AppKit\n#endif\n", nil),
      ("#if os(iOS)\nlet a = 1\n#elseif os(macOS)\nlet a = 2\n#else\nlet a = 3\n#endif\n", nil),
      ("#if os(iOS)\nlet a = 1\n#elseif os(Linux)\nlet a = 2\n#endif\n", nil),
      (
        "#if canImport(UIKit) || canImport(AppKit)\nlet a = 1\n#endif\n#if !os(Linux)\nlet a = 1\n#elseif os(iOS)\nlet b = 1\n#endif\n",
        nil
      ),
      ("struct A: View {}; let s: State = .on", nil),
      ("enum UIImage {}\nlet i: UIImage? = nil; let c = Design.UIColor.red", nil),
      ("let s = \"\\(/@objc/)\"\nlet t = \"\\(a, /@objc/) \\(f(/@objc/)) @objc\"\n", nil),
      // A method of an extension that checks one property, beside a method of the class itself.
      (
        "class A: B {\n}\nextension A {\n  func validateTitle(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}\n}\n",
        "class A: B {\n    override func validateValue(_ value: inout Any?, forKey key: String) throws { "
          + "try super.validateValue(&value, forKey: key); if key == \"title\" { try validateManagedValue(&value, by: validateTitle) } }\n\n}\n"
          + "extension A {\n  func validateTitle(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}\n}\n"
      ),
      (
        "class A: B {\n  override func validateValue(_ value: inout Any?, forKey key: String) throws {\n"
          + "    try validateManagedValue(&value, by: validateTitle)\n  }\n}\n"
          + "extension A {\n  func validateTitle(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}\n}\n",
        nil
      ),
      // What the compiler does not see here.
      ("#if canImport(UIKit)\nimport UIKit\n@objc class A {}\n#else\nclass A {}\n#endif\n", nil),
      ("#if canImport(ObjectiveC)\n@objc(A)\n#endif\nclass A {}\n", nil),
    ] as [(String, String?)])
  func `what is mechanical is rewritten, once`(_ text: String, _ expected: String?) throws {
    let result = try port(text)
    #expect(result.text == expected ?? text)
    #expect(try port(result.text).text == result.text)
    #expect(result.findings.allSatisfy { $0.rule.outcome == .rewritten }, "\(result.findings)")
    #expect((expected == nil) == (result.changedLineCount == 0))
  }

  @Test(
    arguments: [
      ("import class UIKit.UIView", .appleModuleMember), ("@testable import SwiftUI", .appleModuleMember),
      ("n.addObserver(self, selector: #selector(f), name: .x, object: nil)", .unreadableObserver),
      (
        "Timer(timeInterval: 1, target: self, selector: #selector(tick), userInfo: nil, repeats: true)",
        .selector
      ),
      ("override func observeValue(forKeyPath k: String?) {}", .keyValueObserving),
      ("r.addObserver(self, forKeyPath: \"a\", options: [], context: nil)", .keyValueObserving),
      ("r.publisher(for: \\.title)", .keyValueObserving),
      ("class func keyPathsForValuesAffectingName() -> Set<String> { [] }", .dependentKeys),
      ("func validateTitle(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}", .keyValidation),
      (
        "extension A { func validateTitle(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {} }",
        .keyValidation
      ),
      (
        "class A: B { override func validateValue(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey k: String) throws {} }",
        .keyValidation
      ),
      (
        "class A: B { override func validateValue(_ v: inout Any?, forKey k: String) throws {} }\n"
          + "extension A { func validateTitle(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {} }",
        .keyValidation
      ),
      ("protocol P { optional func f() -> Int }", .optionalRequirement),
      ("protocol P { optional var f: Int { get } }", .optionalRequirement),
      ("extension A { override func awakeFromInsert() {} }", .overrideInExtension),
      ("class A: B {}\nextension A { override func f(_ x: inout Int) {} }", .overrideInExtension),
      ("extension UUID: @retroactive CVarArg {}", .retroactiveArgument),
      ("let k = #keyPath(A<B>.c)", .unreadableKeyPath),
      ("let o = p.observe(\\.fractionCompleted, options: [.new]) { _, _ in }", .progressObserver),
      ("let r = NSBatchDeleteRequest(fetchRequest: f)", .absentType),
      ("func f() { class A: NSManagedObject { @NSManaged var x: Int16 } }", .hiddenMember),
      ("return request() as! NSFetchRequest<Self>", .genericRequest),
      ("let r = Item.fetchRequest()\nr.resultType = .dictionaryResultType", .untypedRequest),
      (
        "var r = Shop.Item.fetchRequest()\nr.resultType = NSFetchRequestResultType.countResultType",
        .untypedRequest
      ),
      ("let b = Bundle(for: Item.self)", .foundBundle), ("let b = Bundle(identifier: \"a\")", .foundBundle),
      ("let o = NSManagedObject()", .bareInitializer), ("f(NSConstraintConflict())", .bareInitializer),
      ("class A: NSAtomicStore { init(x: Int) {} }", .storeInitializer),
      ("let k = info[NSPersistentHistoryTokenKey]", .absentType),
      ("n.publish(.NSPersistentStoreRemoteChange)", .absentType),
      ("let k = info[NSPersistentStoreURLKey]", .absentType),
      ("let k = NSPersistentStoreUbiquitousContentNameKey", .absentType),
      ("let i: UIImage? = nil", .appleClass), ("class A: NSViewController {}", .appleClass),
      ("class A { @StateObject var x = 1 }", .appleClass),
      (
        "#if canImport(SwiftUI)\nimport SwiftUI\n#else\nimport Foundation\n#endif\nstruct A: View {}",
        .appleClass
      ), ("let u = f.url(forUbiquityContainerIdentifier: nil)", .absentType),
      ("let c: AnyCancellable? = nil", .appleClass),
      ("let c = NSClassFromString(entity.managedObjectClassName)", .classByName),
      ("a.perform(DATAStack.f(), with: x)", .selector),
      ("let s = #selector(A.f(_:))\nc.addObserver(self, selector: s, name: .x, object: s)", .selector),
      ("#if os(iOS)\nlet a = 1\n#elseif os(macOS)\nlet a = 2\n#endif", .unreachedCode),
      ("#if os(iOS) || os(macOS)\nlet a = 1\n#endif", .unreachedCode),
      ("#if os(iOS) || os(tvOS) || os(watchOS)\nclass A {}\n#endif\n", .unreachedCode),
      ("let r = make() as! NSFetchRequest<NSDictionary>", .genericRequest),
      (
        "class A: NSManagedObject { @NSManaged private var h: H }\nprivate enum H: Int16 { case a }",
        .hiddenMember
      ),
    ] as [(String, PortingRule)])
  func `the rest is listed with its page`(_ text: String, _ rule: PortingRule) throws {
    let result = try port(text)
    #expect(result.text == text)
    #expect(result.findings.map(\.rule) == [rule])
    let page: Substring = rule.page.prefix { $0 != "#" }
    let file: URL = SharedFiles.package.appendingPathComponent("Documentation/\(page)")
    let document: String = try String(contentsOf: file, encoding: .utf8)
    if let part = rule.page.split(separator: "#").dropFirst().first {
      let titles: [String] = document.split(separator: "\n").filter { $0.hasPrefix("#") }.map {
        $0.drop { $0 == "#" || $0 == " " }.lowercased().filter {
          $0.isLetter || $0.isNumber || $0 == " " || $0 == "-"
        }
        .replacing(" ", with: "-")
      }
      #expect(titles.contains(String(part)))
    }
  }

  @Test(arguments: [
    "let r: NSFetchRequest<NSFetchRequestResult> = Item.fetchRequest()\nr.resultType = .dictionaryResultType",
    "let r = Item.fetchRequest()\nr.resultType = .managedObjectResultType",
    "let b = Bundle(url: u)", "let o = NSManagedObject(context: c)", "let s = Set<Car>.init(cars)",
    "class A: NSAtomicStore { override init(persistentStoreCoordinator c: C?) {}\n init(x: Int) {} }",
    "let NSPersistentStoreURLKey = \"u\"\nf(NSPersistentStoreURLKey)",
    "class A: NSAtomicStore { convenience init(x: Int) {} }", "class A: B { init(x: Int) {} }",
  ])
  func `what is the same on both platforms is not listed`(_ text: String) throws {
    let result = try port(text)
    #expect(result.text == text && result.findings == [], "\(result.findings)")
  }

  // Finding: a closure changed the copy of a request, and nothing told that the request stayed as it was.
  @Test func `a request that a function may change is copied, and that is listed`() throws {
    let result = try port("change(request as! NSFetchRequest<NSFetchRequestResult>)")
    #expect(result.text == "change(NSFetchRequest<NSFetchRequestResult>(request))")
    #expect(result.findings.map(\.rule) == [.copiedRequest])
    let fetched = try port("try c.fetch(request as! NSFetchRequest<NSDictionary>)")
    #expect(fetched.findings.map(\.rule) == [.requestCast])
  }

  // Finding: in a build, only the compiler's error told of them, without the page.
  @Test(
    arguments: [
      ("import CoreData\nimport Combine\nvar c: Set<AnyCancellable> = []", [.doubtfulAppleClass]),
      ("import CoreData\nlet i: UIImage? = nil", [.doubtfulAppleClass]),
      ("import CoreData\nimport OpenCombine\nvar c: Set<AnyCancellable> = []", []),
      ("let p = storage.publisher(for: \\.readers)", [.doubtfulObserving]),
      ("bus.addObserver(self, forKeyPath: \"n\")", [.doubtfulObserving]),
    ] as [(String, [PortingRule])])
  func `a build warns of classes of Apple's modules where no other module can have them`(
    _ text: String, _ rules: [PortingRule]
  ) throws {
    let found: [PortingFinding] = try port(text, .built).findings.filter { $0.rule.outcome != .rewritten }
    #expect(found.map(\.rule) == rules)
    #expect(
      found.allSatisfy { "\($0)".contains("warning: ") && "\($0)".contains("porting.md#") })
  }

  // Finding: one extension of it hid every use of an absent type, and a type of the program one of SwiftUI.
  @Test(
    arguments: [
      (
        "extension NSBatchDeleteResult { var n: Int { 0 } }\nfunc f() -> NSBatchDeleteResult? { nil }",
        [.absentType, .absentType]
      ),
      ("extension UIColor { struct Shade {} }\nlet s: UIColor.Shade? = nil", [.appleClass, .appleClass]),
      ("struct FetchRequest {}\nlet r: FetchRequest? = nil", []),
      ("struct FetchRequest {}\nlet r: SwiftUI.FetchRequest<Item>? = nil", [.appleClass]),
    ] as [(String, [PortingRule])])
  func `what an extension extends is not declared by it`(_ text: String, _ rules: [PortingRule]) throws {
    let result = try port(text)
    #expect(result.findings.map(\.rule) == rules, "\(result.findings)")
  }

  @Test func `methods of a policy that expressions may call are listed`() throws {
    let method: String = "@objc func label(_ name: String) -> String { name }"
    // What is not written: an error pointer, closures, a class that is elsewhere.
    for text in [
      "class P: NSEntityMigrationPolicy { @objc func label(_ name: String) throws -> String { name } }",
      "class P: NSMigrationManager { @objc func label(_ name: () -> Void) {} }",
      "extension NSEntityMigrationPolicy { \(method) }",
    ] {
      #expect(Set(try port(text).findings.map(\.rule)) == [.objectiveCAttribute, .policyFunction], "\(text)")
    }
    let plain = try port("class P: NSMigrationManager { \(method) }")
    #expect(Set(plain.findings.map(\.rule)) == [.objectiveCAttribute, .listedFunction])
    for text in [
      "class P: Policy { \(method) }",
      "class P: NSEntityMigrationPolicy { override class var expressionFunctions: [PolicyFunction] { [] }\n \(method) }",
      "class P: NSEntityMigrationPolicy { @objc var x: Int { 1 } }",
    ] {
      #expect(try port(text).findings.allSatisfy { $0.rule == .objectiveCAttribute })
    }
  }

  @Test(
    arguments: [
      ("label", [nil], "label:"), ("label", ["name", "price"], "labelWithName:price:"),
      ("label", ["forName", nil], "labelForName::"), ("labelFor", ["name"], "labelForName:"),
      ("label", [], "label"),
    ] as [(String, [String?], String)])
  func `a method has the selector that the compiler gives it`(
    name: String, labels: [String?], selector: String
  ) {
    #expect(PortingPass.selector(of: name, labels) == selector)
  }

  @Test func `a computed property of a class with a list of its own is told`() throws {
    let text: String =
      "class A: NSManagedObject { override class var customAccessors: [String: AnyKeyPath] { [\"a\": \\A.a] }\n"
      + "@objc var a: Int { 1 }\n@objc var b: Int { 1 } }\nlet k = [\"a\", \"b\"]"
    let found = try port(text).findings.filter { $0.rule != .objectiveCAttribute }
    #expect(found.map(\.rule) == [.unlistedAccessor] && found.first?.line == 3, "\(found)")
    // The class may be one that Codegen makes.
    for (text, rules) in [
      ("extension A { @objc var b: Int { 1 } }\nlet k = \"b\"", [.unlistedAccessor]),
      ("extension A { @objc var b: Int { 1 } }", []),
      ("struct A {}\nextension A { @objc var b: Int { 1 } }\nlet k = \"b\"", []),
    ] as [(String, [PortingRule])] {
      #expect(try port(text).findings.map(\.rule).filter { $0 != .objectiveCAttribute } == rules, "\(text)")
    }
  }

  @Test func `a condition on a module of the program with the name of Apple's is listed`() throws {
    let source = SourceText(path: "Test.swift", "#if canImport(os)\nimport os\n#endif\n")
    let own = try #require(Porter([source], modules: ["os"], style: .kept).results().first)
    #expect(own.text == source.text && own.findings.map(\.rule) == [.ownModule])
    #expect(own.findings.first?.excerpt == "canImport(os)")
    #expect(try #require(Porter([source], style: .kept).results().first).findings == [])
  }

  @Test func `a module of the program with the name of Apple's is imported`() throws {
    let source = SourceText(path: "Test.swift", "import UIKit\nimport AppKit\n")
    let built = try #require(Porter([source], modules: ["UIKit"], style: .built).results().first)
    #expect(built.text == "import UIKit\nimport Foundation\n")
  }

  @Test func `the class of an override in an extension may be in another file`() throws {
    let sources: [SourceText] = [
      SourceText(path: "A.swift", "class A: NSManagedObject {\n  var a = 1\n}\n"),
      SourceText(path: "B.swift", "extension A {\n  override func awakeFromInsert() {}\n}\n"),
    ]
    let built: [Porter.Result] = try Porter(sources, style: .built).results()
    #expect(
      built.map(\.text) == [
        "class A: NSManagedObject { override func awakeFromInsert() { awakeFromInsertInExtension() };\n  var a = 1\n}\n",
        "extension A {\n           func awakeFromInsertInExtension() {}\n}\n",
      ])
    #expect(built.flatMap(\.findings).map(\.rule) == [.movedOverride])
  }

  @Test func `ambiguous names need one file of aliases`() throws {
    let text: String = "import CoreData\nimport Foundation\nlet e: NSExpression? = nil\n"
    #expect(try port(text).findings.map(\.rule) == [.ambiguousName])
    // XCTest brings Foundation along.
    #expect(try port(text.replacing("Foundation", with: "XCTest")).findings.map(\.rule) == [.ambiguousName])
    #expect(try port(text).text == text)
    #expect(try port("typealias NSExpression = CoreData.NSExpression\n" + text).findings.isEmpty)
    #expect(try port(text, .built).text.contains("let e: CoreData.NSExpression? = nil"))
  }

  @Test func `a file that imports Foundation alone gets the import of what is empty there`() throws {
    let text: String = "import Foundation\nlet e: NSExpression? = nil\n"
    #expect(try port(text).text == "import Foundation\nimport CoreData\nlet e: NSExpression? = nil\n")
    #expect(
      try port(text, .built).text
        == "import Foundation; import CoreData\nlet e: CoreData.NSExpression? = nil\n")
    #expect(
      try port(text + "enum CoreData {}", .built).text.contains("let e: CoreDataPredicates.NSExpression?"))
  }

  /// Otherwise the porter calls something absent that is there.
  @Test func `what the porter calls absent is declared nowhere`() throws {
    let folder: URL = SharedFiles.package.appendingPathComponent("Sources")
    let paths: [String] = try #require(FileManager.default.subpaths(atPath: folder.path))
    for path in paths where path.hasPrefix("CoreData") && path.hasSuffix(".swift") {
      let text: String = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
      for name in Porter.absentTypes where text.contains(name) {
        let declaration = try Regex("(class|struct|enum|protocol|typealias|let) \(name)\\b")
        #expect(text.firstMatch(of: declaration) == nil, "\(path) declares \(name)")
      }
    }
  }

  @Test(arguments: [
    (
      "class A: B {\n  @NSManaged public var x: Int16\n}",
      "class A: B {\n             public var x: Int16 { get { managedValue(Self._managedKey37_0) } set { setManagedValue(newValue, Self._managedKey37_0) } }; nonisolated private static let _managedKey37_0 = ManagedKey(\"x\")\n}"
    ),
    ("@objc(A)\nclass A {}\n", "        \nclass A {}\n"),
    (
      "protocol P {\n  optional func f(_ x: Int,\n    y: Int)\n}\nlet a = 1\n",
      "protocol P {\n           func f(_ x: Int,\n    y: Int)\n} extension P { func f(_ x: Int, y: Int) {} }\nlet a = 1\n"
    ),
  ])
  func `a build keeps lines and columns`(_ text: String, _ expected: String) throws {
    let built = try port(text, .built)
    #expect(built.text == expected)
    #expect(built.text.count { $0 == "\n" } == text.count { $0 == "\n" })
  }

  /// Every line of what is built is the line of the source.
  @Test func `all forms are built with their lines`() throws {
    for source in try Forms.sources("Forms") {
      let built: Porter.Result = try #require(Porter([source], style: .built).results().first)
      let lines: [Substring] = built.text.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.count == source.lineStarts.count)
      #expect(!built.text.contains("\n  @NSManaged"))
    }
  }

  @Test(arguments: [
    "protocol e{optional func i(", "class A: NSManagedObject { @objc", "protocol P { optional func f()",
  ])
  func `an unfinished file is an error`(_ text: String) throws {
    #expect(throws: SourceFailure.self) { try port(text) }
    #expect(throws: SourceFailure.self) { try port(text, .built) }
  }

  @Test func `a diff has the lines around`() {
    let old: String = (1...20).map { "line \($0)\n" }.joined()
    let new: String = old.replacing("line 3\n", with: "").replacing("line 15\n", with: "new\n")
    #expect(
      UnifiedDiff.text(from: old, to: new, path: "A.swift") == """
        --- a/A.swift
        +++ b/A.swift
        @@ -1,6 +1,5 @@
         line 1
         line 2
        -line 3
         line 4
         line 5
         line 6
        @@ -12,7 +11,7 @@
         line 12
         line 13
         line 14
        -line 15
        +new
         line 16
         line 17
         line 18

        """)
    #expect(UnifiedDiff.text(from: old, to: old, path: "A.swift").isEmpty)
  }
}
