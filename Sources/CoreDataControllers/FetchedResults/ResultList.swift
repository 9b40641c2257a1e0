import CoreDataGraph
import CoreDataPredicates
import Foundation

/// The results of a controller at one moment, divided into sections. A value: batches of changes compare two
/// of them.
struct ResultList {
  struct Section {
    var name: String
    /// Positions in `objects`.
    var range: Range<Int>
  }

  let objects: [Any]
  let sections: [Section]

  /// One section for each run of equal names; without a key path one for all, also for none.
  init(_ objects: [Any], sectionNameKeyPath: String?) throws {
    self.objects = objects
    guard let sectionNameKeyPath else {
      sections = [Section(name: "", range: 0..<objects.count)]
      return
    }
    let name: CoreDataPredicates.NSExpression = .init(forKeyPath: sectionNameKeyPath)
    var sections: [Section] = []
    for (position, object) in objects.enumerated() {
      let text: String = SectionName.text(try name.expressionValueThrowing(with: object))
      if let last = sections.last, StringMatching.literallyEqual(last.name, text) {
        sections[sections.count - 1].range = last.range.lowerBound..<position + 1
      } else {
        sections.append(Section(name: text, range: position..<position + 1))
      }
    }
    self.sections = sections
  }

  /// Throws when the objects of a section are not adjacent: the order must begin with the key of the
  /// sections.
  func checkSections(_ keyPath: String) throws {
    var seen: Set<LiteralText> = []
    for section in sections where !seen.insert(LiteralText(section.name)).inserted {
      throw ErrorMessage(
        "The fetched object at index \(section.range.lowerBound) has an out of order section name '\(section.name)': "
          + "objects must be sorted by section name.",
        advice: "Let the first sort descriptor sort by '\(keyPath)', or by what it is made of."
      ).cocoaError(NSCoreDataError)
    }
  }

  /// The place of a position; positions are in bounds.
  func indexPath(_ position: Int) -> IndexPath {
    let section: Int = sectionNumber(of: position)
    return IndexPath(item: position - sections[section].range.lowerBound, section: section)
  }

  func sectionNumber(of position: Int) -> Int {
    var (low, high) = (0, sections.count)
    while high - low > 1 {
      let middle: Int = (low + high) / 2
      if sections[middle].range.lowerBound <= position { low = middle } else { high = middle }
    }
    return low
  }

  /// The position of a place, nil for one that is none.
  func position(_ path: IndexPath) -> Int? {
    guard path.count == 2, sections.indices.contains(path[0]) else { return nil }
    let range: Range<Int> = sections[path[0]].range
    return path[1] >= 0 && path[1] < range.count ? range.lowerBound + path[1] : nil
  }
}
