import CoreDataPredicates
import Foundation

// NSSortDescriptor { NSKey, NSAscending, NSSelector, NSReverseNullOrder }

extension ModelArchiveReader {
  func readSortDescriptor(_ record: KeyedArchive.Record, of label: String) throws -> NSSortDescriptor {
    let selector = try string(record, "NSSelector") ?? "compare:"
    let comparison = StringComparison(selectorName: selector)
    if comparison == nil {
      warn("\(label) sorts by the unknown selector \(selector); it is read as compare:")
    }
    return NSSortDescriptor(
      key: try string(record, "NSKey"), ascending: bool(record, "NSAscending"),
      comparison: comparison ?? .plain)
  }
}

extension ModelArchiveWriter {
  func writeSortDescriptor(
    _ descriptor: NSSortDescriptor, label: String, to archive: inout KeyedArchiveWriter
  ) throws -> PlistNode {
    guard let key = descriptor.key else {
      throw ModelFileError(
        file: "model archive",
        reason: "\(label) sorts by something that is no key; use NSSortDescriptor(key:ascending:).")
    }
    let comparison = descriptor.stringComparison ?? .plain
    return archive.instance(
      ["NSSortDescriptor", "NSObject"],
      [
        "NSKey": archive.string(key), "NSAscending": .boolean(descriptor.ascending),
        "NSSelector": archive.string(comparison.selectorName), "NSReverseNullOrder": .boolean(false),
      ])
  }
}
