/// What was left out of a file of which as much as possible was read.
package struct LeftOutParts: Sendable, Equatable {
  /// Objects, by the ids that the file gives them. Others have none.
  package private(set) var objects: [RowID] = []
  /// Objects without such an id, by their entities: those of the model by its names, others by the file's.
  package private(set) var others: [String: OtherObjects] = [:]
  /// All that was left out, objects included, and why.
  package var problems: [StoreProblem] { noted.all }
  private var noted = StoreProblems()
  /// Whether the end of the file is missing, with objects that nobody can count.
  package var isCutOff: Bool = false

  package init() {}

  package mutating func add(_ problem: StoreProblem, object: RowID? = nil) {
    noted.add(problem)
    if let object { objects.append(object) }
  }

  /// Objects that no id of the model names.
  package struct OtherObjects: Sendable, Equatable {
    /// Those that the file gives. They may be those of other objects too.
    package var keys: [Int64] = []
    package var withoutKey: Int = 0
  }

  mutating func add(objectOf entity: String, key: Int64?) {
    if let key {
      others[entity, default: OtherObjects()].keys.append(key)
    } else {
      others[entity, default: OtherObjects()].withoutKey += 1
    }
  }

  package static func == (one: LeftOutParts, other: LeftOutParts) -> Bool {
    one.isCutOff == other.isCutOff && one.objects == other.objects && one.others == other.others
      && one.problems == other.problems
  }
}
