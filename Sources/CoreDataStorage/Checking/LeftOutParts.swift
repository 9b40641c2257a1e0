/// What was left out of a file of which as much as possible was read.
package struct LeftOutParts: Sendable, Equatable {
  /// Objects, by the ids that the file gives them. Others have none.
  package private(set) var objects: [RowID] = []
  /// All that was left out, objects included, and why.
  package var problems: [StoreProblem] { noted.all }
  private var noted = StoreProblems()

  package init() {}

  mutating func add(_ problem: StoreProblem, object: RowID? = nil) {
    noted.add(problem)
    if let object { objects.append(object) }
  }

  package static func == (one: LeftOutParts, other: LeftOutParts) -> Bool {
    one.objects == other.objects && one.problems == other.problems
  }
}
