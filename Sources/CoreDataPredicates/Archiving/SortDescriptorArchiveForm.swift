import CoreDataArchives
import Foundation

/// The form in which Foundation archives sort descriptors:
///
/// ```
/// NSSortDescriptor { NSKey, NSAscending, NSSelector, NSReverseNullOrder }
/// ```
package enum SortDescriptorArchiveForm {
  /// The contents of an archived sort descriptor.
  struct Content {
    var key: String?
    var ascending: Bool
    /// In a model perhaps an unknown one.
    var selector: Selector

    init(_ fields: some ArchivedScalars) throws {
      key = try fields.text("NSKey")
      ascending = try fields.flag("NSAscending")
      selector = Selector(try fields.text("NSSelector") ?? StringComparison.plain.selectorName)
      if fields.isStrict { try check(fields) }
    }

    private func check(_ fields: some ArchivedScalars) throws {
      guard fields.className == "NSSortDescriptor" else {
        throw PlistError("a sort descriptor of \(fields.label) has the unknown class \(fields.className)")
      }
      guard PredicateFunctions.answers(to: selector.description, argumentCount: 1) else {
        throw PlistError(
          "a sort descriptor of \(fields.label) compares by \(selector), to which nothing answers; register it first with "
            + "PredicateFunctions.register(_:_:)")
      }
      guard try !fields.flag("NSReverseNullOrder") else {
        throw PlistError(
          "a sort descriptor of \(fields.label) turns the order of nulls round, which nothing here does")
      }
    }
  }

  package static func write(
    _ descriptor: NSSortDescriptor, label: String, to archive: inout KeyedArchiveWriter
  ) throws -> PlistNode {
    let method: Selector? =
      (descriptor as? KeySortDescriptor)?.method
      ?? (descriptor.sortTerm?.comparison.selectorName).map { Selector($0) }
    guard let method, descriptor is KeySortDescriptor || descriptor.key != nil else {
      throw PlistError(
        "\(label) sorts by something that is no key, or by code; use NSSortDescriptor(key:ascending:selector:)"
      )
    }
    return archive.instance(
      ["NSSortDescriptor", "NSObject"],
      [
        "NSKey": archive.string(descriptor.key), "NSAscending": .boolean(descriptor.ascending),
        "NSSelector": archive.string(method.description), "NSReverseNullOrder": .boolean(false),
      ])
  }
}
