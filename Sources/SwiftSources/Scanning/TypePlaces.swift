/// Finds the types around places of a file. A question costs the logarithm of the number of types.
struct TypePlaces {
  private struct Entry {
    let type: TypeDeclaration
    let body: Range<Int>
    /// The names from the outermost type, joined by periods.
    let path: String
    let parent: Int?
  }

  /// In the order of their bodies' begin.
  private var entries: [Entry] = []

  init(_ types: [TypeDeclaration]) { add(types, parent: nil) }

  private mutating func add(_ types: [TypeDeclaration], parent: Int?) {
    for type in types {
      guard let body = type.body else { continue }
      let names: [String] = (parent.map { [entries[$0].path] } ?? []) + type.name
      entries.append(
        Entry(type: type, body: body, path: names.joined(separator: "."), parent: parent))
      add(type.types, parent: entries.count - 1)
    }
  }

  private func innermost(at offset: Int) -> Entry? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle: Int = (low + high) / 2
      if entries[middle].body.lowerBound <= offset { low = middle + 1 } else { high = middle }
    }
    var index: Int? = low == 0 ? nil : low - 1
    while let place = index, !entries[place].body.contains(offset) { index = entries[place].parent }
    return index.map { entries[$0] }
  }

  /// The innermost type around an offset.
  func type(at offset: Int) -> TypeDeclaration? { innermost(at: offset)?.type }

  /// The path of the innermost type around an offset; empty outside of types.
  func path(at offset: Int) -> String { innermost(at: offset)?.path ?? "" }
}
