/// The plain fields of one archived predicate, expression or operator, wherever they lie: in the object table
/// of an archive, or in a coder of Foundation's unarchiver.
///
/// ``PredicateArchiveForm`` says which fields there are and what they mean.
protocol ArchivedScalars {
  /// Apple's name of the class, such as `NSKeyPathExpression`.
  var className: String { get }
  /// Names the owner in errors: "the archive", "attribute 'Person.age'".
  var label: String { get }
  /// Whether unknown functions and selectors are errors. Models keep them, since they
  /// are written back.
  var isStrict: Bool { get }

  /// nil where the field is absent.
  func integer(_ key: String) throws -> Int?
  /// False where the field is absent.
  func flag(_ key: String) throws -> Bool
  /// nil where the field is absent or no text.
  func text(_ key: String) throws -> String?
}

/// The fields that are objects too.
protocol ArchivedFields: ArchivedScalars {
  /// Null where the field is absent.
  func value(_ key: String) throws -> PredicateValue
  func part(_ key: String) throws -> any ArchivedScalars
  func predicate(_ key: String) throws -> PredicateNode
  func predicates(_ key: String) throws -> [PredicateNode]
  /// The expression as it stands, perhaps an ``ArchivedMark``.
  func expression(_ key: String) throws -> ExpressionNode
  func expressions(_ key: String) throws -> [ExpressionNode]
}

/// What an archive has in the place of an expression and is none: it means something as a part of its owner
/// only. Stands in a constant until the owner takes it out.
enum ArchivedMark: Hashable {
  /// A class. Built-in functions have one as their target.
  case type(String)
  /// `FIRST`, `LAST` or `SIZE` of an index.
  case symbol(IndexNode)

  /// The class whose methods the built-in functions are.
  static let functionsType: String = "_NSPredicateUtilities"

  init?(_ node: ExpressionNode) {
    guard case .constant(.object(let box)) = node, let mark = box.value as? ArchivedMark else { return nil }
    self = mark
  }

  var node: ExpressionNode { .constant(.object(ObjectBox(self))) }
}
