import CoreDataModel
import Foundation

/// `.xccurrentversion` in an `.xcdatamodeld`: which of its versions is the current one.
package struct CurrentVersion: Sendable {
  private static let key: String = "_XCCurrentVersionName"
  private static let ending: String = ".xcdatamodel"

  /// The name, without the ending.
  package let name: String

  package init(name: String) { self.name = name }

  /// Nil for a file that is another property list, or none.
  package init?(_ data: Data) {
    guard let list = try? PropertyListValues.dictionary(from: data), let file = list[Self.key] as? String
    else { return nil }
    name = file.hasSuffix(Self.ending) ? String(file.dropLast(Self.ending.count)) : file
  }

  /// As the editor writes it.
  package var data: Data {
    Data(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      <dict>
      \t<key>\(Self.key)</key>
      \t<string>\(ModelSourceSchema.escaped(name + Self.ending))</string>
      </dict>
      </plist>

      """.utf8)
  }

  /// The file with this version instead of the one that `old` names, and nothing else of it changed.
  package func data(replacing old: Data?) -> Data {
    guard let old, let known = CurrentVersion(old) else { return data }
    let text = String(decoding: old, as: UTF8.self)
    let value: String = ModelSourceSchema.escaped(known.name + Self.ending)
    guard text.ranges(of: "<string>\(value)</string>").count == 1 else { return data }
    return Data(
      text.replacing(
        "<string>\(value)</string>",
        with: "<string>\(ModelSourceSchema.escaped(name + Self.ending))</string>"
      ).utf8)
  }

  /// What one side changed prevails; if both did, ours stays and the conflict is named.
  package static func merge(base: CurrentVersion?, ours: CurrentVersion, theirs: CurrentVersion) -> (
    version: CurrentVersion, conflicts: [ModelMerge.Conflict]
  ) {
    if ours.name == theirs.name || base?.name == theirs.name { return (ours, []) }
    if base?.name == ours.name { return (theirs, []) }
    return (
      ours,
      [
        ModelMerge.Conflict(
          part: "",
          reason:
            "both set the current version: ours is \"\(ours.name)\", theirs \"\(theirs.name)\"; write the "
            + "one to be used into the file")
      ]
    )
  }
}
