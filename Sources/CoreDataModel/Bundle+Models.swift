import Foundation

#if !canImport(Darwin)

  // Programs ask their bundle for the model that Xcode has compiled: `Bundle.module.url(forResource: "Shop", withExtension: "momd")`. Off
  // Apple's platforms packages copy the model as it is written, `Shop.xcdatamodeld`, so Foundation finds nothing. These look-ups take text
  // that is not optional, which is why the compiler prefers them to Foundation's where a file imports this module; they answer what
  // Foundation does, and where that finds no compiled model, the one that it would have been compiled of.

  extension Bundle {
    /// A resource of the bundle; for a `momd` or `mom` that is not there, the `xcdatamodeld` or `xcdatamodel` in its place.
    public func url(forResource name: String, withExtension ext: String) -> URL? {
      source(ext) { url(forResource: name, withExtension: $0 as String?) }
    }

    /// The same in a folder; `Shop.momd` may be one, and stands for `Shop.xcdatamodeld` then.
    public func url(forResource name: String, withExtension ext: String, subdirectory subpath: String?)
      -> URL?
    {
      source(ext) { kind in
        let folders: [String?] =
          kind == ext ? [subpath] : [subpath, subpath.map(ModelFileLocator.sourcePath)]
        return folders.lazy.compactMap {
          self.url(forResource: name as String?, withExtension: kind, subdirectory: $0)
        }.first
      }
    }

    /// The same as a path.
    public func path(forResource name: String, ofType ext: String) -> String? {
      source(ext) { path(forResource: name, ofType: $0 as String?) }
    }

    /// All resources of a kind; where there is no `momd` or `mom`, all models in their place.
    public func urls(forResourcesWithExtension ext: String, subdirectory subpath: String?) -> [URL]? {
      source(ext) { kind in
        let found: [URL]? = urls(forResourcesWithExtension: kind as String?, subdirectory: subpath)?.map {
          $0 as URL
        }
        return found?.isEmpty == true && ModelFileLocator.sourceExtension(of: ext) != nil ? nil : found
      }
    }

    private func source<Found>(_ ext: String, _ find: (String) -> Found?) -> Found? {
      find(ext) ?? ModelFileLocator.sourceExtension(of: ext).flatMap(find)
    }
  }

#endif

extension ModelFileLocator {
  /// The extension of what a compiled model is compiled of.
  static func sourceExtension(of ext: String) -> String? {
    switch ext {
    case "momd": "xcdatamodeld"
    case "mom": "xcdatamodel"
    default: nil
    }
  }

  /// A path with the names of compiled models in it replaced by those of what they are compiled of.
  static func sourcePath(_ path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).map { part in
      for ext in ["momd", "mom"] where part.hasSuffix(".\(ext)") {
        return String(part.dropLast(ext.count)) + (sourceExtension(of: ext) ?? ext)
      }
      return String(part)
    }.joined(separator: "/")
  }

  /// A compiled model that is not there stands for the one that it would have been compiled of, if that is there.
  static func existing(_ url: URL) -> URL {
    guard sourceExtension(of: url.pathExtension) != nil, !FileManager.default.fileExists(atPath: url.path)
    else {
      return url
    }
    let source = URL(fileURLWithPath: sourcePath(url.path))
    return FileManager.default.fileExists(atPath: source.path) ? source : url
  }
}
