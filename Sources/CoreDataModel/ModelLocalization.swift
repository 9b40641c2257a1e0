import Foundation
import Synchronization

/// The words of the strings file beside a model's file, read at their first use.
///
/// As Apple's framework names it: `ShopModel.strings` for `Shop.momd` or `Shop.mom`, in the folder of the
/// model or in a folder of a language, `de.lproj`, in it.
final class ModelLocalization: Sendable {
  private struct Words {
    var file: URL
    var words: [String: String]?
  }

  private let read = Mutex<Words?>(nil)

  /// nil where there is no file, or none that can be read.
  func words(besides file: URL?) -> [String: String]? {
    guard let file else { return nil }
    return read.withLock { read in
      if let read, read.file == file { return read.words }
      let words: [String: String]? = Self.find(file)
      read = Words(file: file, words: words)
      return words
    }
  }

  private static func find(_ file: URL) -> [String: String]? {
    var url: URL = NSManagedObjectModel.versionFile(of: file)
    var names: [String] = [url.deletingPathExtension().lastPathComponent]
    url.deleteLastPathComponent()
    if ["momd", "xcdatamodeld"].contains(url.pathExtension) {
      names.insert(url.deletingPathExtension().lastPathComponent, at: 0)
      url.deleteLastPathComponent()
    }
    guard let bundle = Bundle(url: url) else { return nil }
    for name in names {
      let found: URL? = bundle.url(forResource: "\(name)Model", withExtension: "strings" as String?)
      if let found, let data = try? ModelFileLocator.contents(of: found), let words = StringsFile.read(data) {
        return words
      }
    }
    return nil
  }
}
