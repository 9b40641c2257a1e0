/// The plain fields of one archived predicate, expression or operator, wherever they lie: in the object table
/// of an archive, or in a coder of Foundation's unarchiver.
///
/// ``PredicateArchiveForm`` defines the fields and their meaning.
protocol ArchivedScalars {
  /// Apple's name of the class, such as `NSKeyPathExpression`.
  var className: String { get }
  /// Names the owner in errors: "the archive", "attribute 'Person.age'".
  var label: String { get }
  /// Whether unknown functions and selectors are errors. Models keep them, since they
  /// are written back.
  var isStrict: Bool { get }

  /// nil if the field is absent.
  func integer(_ key: String) throws -> Int?
  /// False if the field is absent.
  func flag(_ key: String) throws -> Bool
  /// nil if the field is absent or no text.
  func text(_ key: String) throws -> String?
}

/// The fields that are objects too.
protocol ArchivedFields: ArchivedScalars {
  /// Null if the field is absent.
  func value(_ key: String) throws -> PredicateValue
  func part(_ key: String) throws -> any ArchivedScalars
  func predicate(_ key: String) throws -> PredicateNode
  func predicates(_ key: String) throws -> [PredicateNode]
  /// The expression unchanged, perhaps an ``ArchivedMark``.
  func expression(_ key: String) throws -> ExpressionNode
  func expressions(_ key: String) throws -> [ExpressionNode]
}

/// Something that archives contain in the place of an expression and that has a meaning only as a part of its
/// owner. It is kept in a constant until the owner is decoded.
enum ArchivedMark: Hashable {
  /// A class. It is the target of built-in functions.
  case type(String)
  /// `FIRST`, `LAST` or `SIZE` of an index.
  case symbol(IndexNode)

  /// The class that has the built-in functions as its methods.
  static let functionsType: String = "_NSPredicateUtilities"

  init?(_ node: ExpressionNode) {
    guard case .constant(.object(let box)) = node, let mark = box.value as? ArchivedMark else { return nil }
    self = mark
  }

  var node: ExpressionNode { .constant(.object(ObjectBox(self))) }
}
