import CoreDataArchives
import Foundation

/// Archives of predicates, expressions and sort descriptors: keyed archives as Apple's systems write and read
/// them. Reading does not use Foundation's unarchiver, which on Linux stops the program at unexpected data.
enum PredicateArchive {
  /// The key under which the classes keep their archive in a coder of Foundation's, whose class
  /// names no other system has.
  static let codingKey: String = "archive"

  /// The stack for reading or writing the deepest tree: the depth is known only at the end.
  private static let stackBytes: Int = TreeLimits.depth * 16 << 10

  // MARK: Writing

  /// The archive of one object, or of an array of them. Throws ``PredicateError`` for what can't be archived.
  static func data(of root: some PredicateArchiving) throws -> Data {
    try data { try write(root, to: &$0) }
  }

  static func data(of roots: [some PredicateArchiving]) throws -> Data {
    try data { archive in
      let nodes: [PlistNode] = try roots.map { try write($0, to: &archive) }
      return archive.array(nodes)
    }
  }

  /// The archive of a tree, whatever class of the program holds it.
  static func data(of node: PredicateNode) throws -> Data {
    try data { try PredicateArchiveWriter(label: "the predicate").write(node, to: &$0) }
  }

  static func data(of node: ExpressionNode) throws -> Data {
    try data { try PredicateArchiveWriter(label: "the expression").write(node, to: &$0) }
  }

  private static func data(
    _ write: (inout KeyedArchiveWriter) throws -> PlistNode
  ) throws -> Data {
    do {
      return try StackGuard.run(bytes: stackBytes) {
        var archive: KeyedArchiveWriter = KeyedArchiveWriter()
        let root: PlistNode = try write(&archive)
        return archive.data(root: root)
      }
    } catch let error as PlistError {
      throw PredicateError.archive("This can't be archived: \(error.reason).")
    }
  }

  private static func write(
    _ root: some PredicateArchiving, to archive: inout KeyedArchiveWriter
  ) throws -> PlistNode {
    switch root {
    case let predicate as Foundation.NSPredicate:
      return try PredicateArchiveWriter(label: "the predicate").write(predicate.predicateNode(), to: &archive)
    case let expression as NSExpression:
      return try PredicateArchiveWriter(label: "the expression").write(
        expression.expressionNode(), to: &archive)
    case let descriptor as NSSortDescriptor:
      return try SortDescriptorArchiveForm.write(descriptor, label: "the sort descriptor", to: &archive)
    default:
      throw PlistError("it is a \(type(of: root))")
    }
  }

  // MARK: Reading

  /// The object in an archive; its evaluation must be allowed first. Throws ``PredicateError`` for anything
  /// but such an archive, and for constants of classes that are not allowed.
  static func read<Root: PredicateArchiving>(
    _ type: Root.Type, from data: Data, allowed: [AnyClass] = []
  ) throws -> Root {
    try reading(data, allowed) { try $0.object(type, $0.archive.top["root"]) }
  }

  /// The objects of an archived array.
  static func readArray<Root: PredicateArchiving>(
    of type: Root.Type, from data: Data, allowed: [AnyClass] = []
  ) throws -> [Root] {
    try reading(data, allowed) { content in
      let archive: KeyedArchive = content.archive
      guard let index = try archive.index(archive.top["root"]), let list = try archive.record(at: index),
        case .array(let members)? = try archive.resolve(list.fields["NS.objects"])
      else { throw PlistError("it holds no array") }
      return try members.map { try content.object(type, $0) }
    }
  }

  /// The tree of an archived predicate.
  static func predicateNode(from data: Data, allowed: [AnyClass]) throws -> PredicateNode {
    try reading(data, allowed) { try $0.reader.predicateNode($0.archive.top["root"], of: label) }
  }

  /// The tree of an archived expression.
  static func expressionNode(from data: Data, allowed: [AnyClass]) throws -> ExpressionNode {
    try reading(data, allowed) { try $0.reader.expressionNode($0.archive.top["root"], of: label) }
  }

  /// The contents of an archived sort descriptor.
  static func sortDescriptor(from data: Data) throws -> SortDescriptorArchiveForm.Content {
    try reading(data, []) { try $0.reader.sortDescriptor($0.archive.top["root"], of: label) }
  }

  /// The name of the archive in errors.
  static let label: String = "the archive"

  private static func reading<Result>(
    _ data: Data, _ allowed: [AnyClass], _ body: (Content) throws -> Result
  ) throws -> Result {
    do {
      return try StackGuard.run(bytes: stackBytes) { try body(Content(try KeyedArchive(data), allowed)) }
    } catch let error as PlistError {
      throw PredicateError.archive(
        "This is no readable archive of a predicate, expression or sort descriptor: \(error.reason).")
    }
  }

  /// An archive being read.
  private struct Content {
    let archive: KeyedArchive
    let reader: PredicateArchiveReader
    let allowed: [AnyClass]

    init(_ archive: KeyedArchive, _ allowed: [AnyClass]) {
      self.archive = archive
      self.allowed = allowed
      reader = PredicateArchiveReader(archive, allowed: allowed)
    }

    func object<Root: PredicateArchiving>(
      _ type: Root.Type, _ node: PlistNode?, isInner: Bool = false
    ) throws -> Root {
      guard let index = try archive.index(node), let record = try archive.record(at: index) else {
        throw PlistError("it holds no object")
      }
      if !isInner, case .data(let data)? = try archive.resolve(record.fields[PredicateArchive.codingKey]) {
        let inner: Content = Content(try KeyedArchive(data), allowed)
        return try inner.object(type, inner.archive.top["root"], isInner: true)
      }
      guard let result = try object(node, type) as? Root else {
        throw PlistError("it holds a \(record.className), which is no \(type)")
      }
      return result
    }

    private func object(_ node: PlistNode?, _ type: any PredicateArchiving.Type) throws -> Any {
      switch type {
      case is Foundation.NSPredicate.Type:
        .makePredicate(try reader.predicateNode(node, of: label), permission: EvaluationPermission())
          as Foundation.NSPredicate
      case is NSExpression.Type:
        NSExpression(node: try reader.expressionNode(node, of: label), permission: EvaluationPermission())
      default:
        KeySortDescriptor(try reader.sortDescriptor(node, of: label))
      }
    }
  }
}
