import Foundation

/// The object table of a keyed archive, read without making any class's instances.
///
/// ```
/// { "$archiver": "NSKeyedArchiver", "$version": 100000,
///   "$top":     { "root": uid },
///   "$objects": [ "$null", { "$class": uid, key: value or uid, … }, …, { "$classname": …, "$classes": […] } ] }
/// ```
///
/// Object 0 is "$null" and stands for nil. Objects may refer to each other in cycles.
package struct KeyedArchive {
  package let objects: [PlistNode]
  package let top: [String: PlistNode]

  /// An archived instance: its class and its fields.
  package struct Record {
    package var index: Int
    package var className: String
    package var classes: [String]
    package var fields: [String: PlistNode]

    /// Whether the class or an ancestor has that name.
    package func isKind(of name: String) -> Bool {
      className == name || classes.contains(name)
    }
  }

  package init(_ data: Data) throws { try self.init(PlistNode.read(data)) }

  init(objects: [PlistNode], top: [String: PlistNode]) {
    self.objects = objects
    self.top = top
  }

  /// Throws for a property list that is no archive.
  package init(_ root: PlistNode) throws {
    guard case .dictionary(let content) = root, case .array(let objects) = content["$objects"],
      case .dictionary(let top) = content["$top"]
    else { throw PlistError("it is a property list, but not a keyed archive: $objects or $top is missing") }
    self.objects = objects
    self.top = top
  }

  /// The object a field refers to, or the field itself if values are inline; nil for absent and for "$null".
  package func resolve(_ node: PlistNode?) throws -> PlistNode? {
    guard let node else { return nil }
    guard case .uid(let index) = node else { return node }
    guard objects.indices.contains(index) else {
      throw PlistError("a reference to object \(index) of \(objects.count)")
    }
    return index == 0 ? nil : objects[index]
  }

  /// The index a field refers to; nil for absent and for "$null".
  package func index(_ node: PlistNode?) throws -> Int? {
    guard case .uid(let index) = node, index != 0 else { return nil }
    guard objects.indices.contains(index) else {
      throw PlistError("a reference to object \(index) of \(objects.count)")
    }
    return index
  }

  /// The instance at `index`, nil if a plain value is there.
  package func record(at index: Int) throws -> Record? {
    guard objects.indices.contains(index), case .dictionary(let fields) = objects[index],
      case .uid = fields["$class"]
    else { return nil }
    guard var record = try record(of: fields) else {
      throw PlistError("object \(index) has no class description")
    }
    record.index = index
    return record
  }

  /// The instance with these fields, nil without a class description.
  func record(of fields: [String: PlistNode]) throws -> Record? {
    guard case .uid(let classIndex) = fields["$class"], objects.indices.contains(classIndex),
      case .dictionary(let description) = objects[classIndex],
      case .string(let name) = description["$classname"]
    else { return nil }
    var classes: [String] = []
    if case .array(let list) = description["$classes"] {
      // Real classes have a handful of ancestors; a long list would be walked again for every instance.
      classes = list.prefix(32).compactMap { if case .string(let name) = $0 { name } else { nil } }
    }
    return Record(index: -1, className: name, classes: classes, fields: fields)
  }

  /// Whether two objects are equal: equal values, or instances of one class with equal fields. The top
  /// objects' fields in `ignoring` don't count. Below the top, instances of the classes in `limits` must be
  /// the same object, so that a comparison stays within a part of the graph.
  package func areEqual(
    _ left: Int, _ right: Int, ignoring: Set<String>, limits: Set<String>
  ) throws -> Bool {
    var waiting: [(PlistNode, PlistNode)] = [(.uid(left), .uid(right))]
    // A pair that was compared before counts as equal: cycles end, and no pair is compared twice.
    var seen: Set<[Int]> = []
    while let (one, other) = waiting.popLast() {
      switch (one, other) {
      case (.uid(let a), .uid(let b)):
        let isTop: Bool = seen.isEmpty
        if a == b || !seen.insert([a, b]).inserted { continue }
        guard a != 0, b != 0, objects.indices.contains(a), objects.indices.contains(b) else { return false }
        guard let first = try record(at: a), let second = try record(at: b) else {
          waiting.append((objects[a], objects[b]))
          continue
        }
        guard first.className == second.className, isTop || !limits.contains(first.className) else {
          return false
        }
        let skipped: Set<String> = (isTop ? ignoring : []).union(["$class"])
        let keys: Set<String> = Set(first.fields.keys).union(second.fields.keys).subtracting(skipped)
        for key in keys {
          guard let a = first.fields[key], let b = second.fields[key] else { return false }
          waiting.append((a, b))
        }
      case (.array(let first), .array(let second)):
        guard first.count == second.count else { return false }
        waiting += zip(first, second)
      default:
        if one != other { return false }
      }
    }
    return true
  }
}
