import Foundation

// Classes by which Foundation's unarchiver decodes those of Apple's that have no counterpart here. They are
// at the top level of the module, because Foundation does not find nested ones.

/// The operator of an archived comparison.
final class ArchivedOperator: NSObject, NSSecureCoding, ArchivedScalars {
  private let integers: [String: Int]
  private let selector: String?

  static var supportsSecureCoding: Bool { true }

  init?(coder: NSCoder) {
    var integers: [String: Int] = [:]
    for key in ["NSOperatorType", "NSModifier", "NSOptions", "NSFlags"] where coder.containsValue(forKey: key)
    {
      integers[key] = coder.decodeInteger(forKey: key)
    }
    self.integers = integers
    let hasSelector: Bool = coder.containsValue(forKey: "NSSelectorName")
    selector =
      hasSelector ? coder.decodeObject(of: [NSString.self], forKey: "NSSelectorName") as? String : nil
    super.init()
  }

  /// Comparisons are archived as a whole.
  func encode(with coder: NSCoder) {}

  var className: String { "NSPredicateOperator" }
  var label: String { PredicateArchive.label }
  var isStrict: Bool { true }

  func integer(_ key: String) throws -> Int? { integers[key] }
  func flag(_ key: String) throws -> Bool { integers[key] == 1 }
  func text(_ key: String) throws -> String? { selector }
}

/// A constant predicate that is decoded as part of something else. Foundation's own class can't be decoded.
class ArchivedConstantPredicate: Foundation.NSPredicate {
  let constant: Bool

  fileprivate init(constant: Bool) {
    self.constant = constant
    super.init(value: constant)
  }

  override func copy(with zone: NSZone? = nil) -> Any { self }
}

final class ArchivedTruePredicate: ArchivedConstantPredicate, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }

  required init?(coder: NSCoder) {
    super.init(constant: true)
  }

  func encode(with coder: NSCoder) {}
}

final class ArchivedFalsePredicate: ArchivedConstantPredicate, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }

  required init?(coder: NSCoder) {
    super.init(constant: false)
  }

  func encode(with coder: NSCoder) {}
}

/// Registers our classes for Apple's class names with Foundation's unarchiver.
enum ArchiveClasses {
  static func register() {
    let classes: [(AnyClass, [String])] = [
      (NSComparisonPredicate.self, ["NSComparisonPredicate"]),
      (NSCompoundPredicate.self, ["NSCompoundPredicate"]),
      (ArchivedTruePredicate.self, ["NSTruePredicate"]),
      (ArchivedFalsePredicate.self, ["NSFalsePredicate"]),
      (KeySortDescriptor.self, ["NSSortDescriptor"]),
      (
        ArchivedOperator.self,
        ["Comparison", "Equality", "In", "Between", "Like", "Matching", "Substring", "Custom"].map {
          "NS\($0)PredicateOperator"
        }
      ),
      (NSExpression.self, PredicateArchiveForm.Kind.allCases.map(\.className)),
    ]
    for (stand, names): (AnyClass, [String]) in classes {
      for name in names { NSKeyedUnarchiver.setClass(stand, forClassName: name) }
    }
  }
}

#if compiler(>=6.3)
  // An archive may be the first thing that a program meets, so the names are registered when it starts, by a
  // pointer in the list of functions that run before `main`.
  #if objectFormat(ELF)
    @used @section(".init_array")
    private let registerArchiveClasses: @convention(c) () -> Void = { ArchiveClasses.register() }
  #elseif objectFormat(COFF)
    @used @section(".CRT$XCU")
    private let registerArchiveClasses: @convention(c) () -> Void = { ArchiveClasses.register() }
  #endif
#endif
