import Foundation

#if !canImport(Darwin)

  // Programs look up what Xcode has compiled in their bundle: `Bundle.module.url(forResource: "Shop",
  // withExtension: "momd")`. Off Apple's platforms packages copy the sources, `Shop.xcdatamodeld` and
  // `Shop1to2.xcmappingmodel`, so Foundation finds nothing. These look-ups have parameters that are not
  // optional, so the compiler prefers them to Foundation's where a file imports this module; they return
  // Foundation's result, and where that finds nothing compiled, the source.

  extension Bundle {
    /// A resource of the bundle; for a missing `momd`, `mom` or `cdm`, the `xcdatamodeld`, `xcdatamodel` or
    /// `xcmappingmodel` in its place.
    public func url(forResource name: String, withExtension ext: String) -> URL? {
      source(ext) { url(forResource: name, withExtension: $0 as String?) }
    }

    /// The same in a folder; `Shop.momd` may be the folder; then `Shop.xcdatamodeld` replaces it.
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

    /// All resources of a kind; where there is no `momd`, `mom` or `cdm`, all sources in their place.
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
  /// The extension of the source of a compiled model or mapping model.
  static func sourceExtension(of ext: String) -> String? {
    switch ext {
    case "momd": "xcdatamodeld"
    case "mom": "xcdatamodel"
    case "cdm": "xcmappingmodel"
    default: nil
    }
  }

  /// A path with the names of compiled models in it replaced by those of their sources.
  static func sourcePath(_ path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).map { part in
      for ext in ["momd", "mom", "cdm"] where part.hasSuffix(".\(ext)") {
        return String(part.dropLast(ext.count)) + (sourceExtension(of: ext) ?? ext)
      }
      return String(part)
    }.joined(separator: "/")
  }

  /// The URL of the source model if the compiled one does not exist and the source does.
  static func existing(_ url: URL) -> URL {
    guard sourceExtension(of: url.pathExtension) != nil, !FileManager.default.fileExists(atPath: url.path)
    else {
      return url
    }
    let source = URL(fileURLWithPath: sourcePath(url.path))
    return FileManager.default.fileExists(atPath: source.path) ? source : url
  }
}
