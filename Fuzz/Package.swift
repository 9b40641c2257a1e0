// swift-tools-version: 6.1
import PackageDescription

// The fuzzed sources are compiled here again, through symbolic links: a sanitizer's flags apply only to
// targets of this package, and a fuzzer learns nothing from code that isn't instrumented. So this package
// doesn't depend on the root at all.

let flags: [String] = ["-sanitize=fuzzer,address", "-g"]
let instrumented: [SwiftSetting] = [.unsafeFlags(flags)]
let linked: [LinkerSetting] = [.unsafeFlags(flags + ["-use-ld=lld"])]

func fuzzer(_ name: String, _ targets: Target.Dependency = "FuzzTargets") -> Target {
  .executableTarget(
    name: name, dependencies: [targets, "CLibFuzzer"], swiftSettings: instrumented, linkerSettings: linked)
}

let package: Package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v15)],
  targets: [
    .target(name: "CLibFuzzer"),
    .target(name: "CoreDataRuntime", swiftSettings: instrumented),
    .target(name: "CoreDataArchives", dependencies: ["CoreDataRuntime"], swiftSettings: instrumented),
    .target(
      name: "CoreDataPredicates", dependencies: ["CoreDataArchives", "CoreDataRuntime"],
      swiftSettings: instrumented),
    .target(
      name: "CoreDataEvaluation", dependencies: ["CoreDataPredicates", "CoreDataRuntime"],
      swiftSettings: instrumented),
    .target(name: "TestSupport"),
    .target(name: "PredicateVectors", dependencies: ["TestSupport"]),
    .target(
      name: "FuzzTargets", dependencies: ["CoreDataEvaluation", "CoreDataPredicates", "CoreDataArchives"],
      swiftSettings: instrumented),
    .systemLibrary(name: "CZlib"),
    .systemLibrary(name: "CSQLite"),
    .target(
      name: "CoreDataModel", dependencies: ["CoreDataPredicates", "CoreDataArchives", "CZlib"],
      swiftSettings: instrumented),
    .target(
      name: "CoreDataStorage", dependencies: ["CoreDataEvaluation", "CoreDataModel", "CoreDataPredicates"],
      swiftSettings: instrumented),
    .target(
      name: "CoreDataSQL",
      dependencies: ["CoreDataStorage", "CoreDataEvaluation", "CoreDataModel", "CoreDataPredicates"],
      swiftSettings: instrumented),
    .target(
      name: "FuzzSQL",
      dependencies: [
        "FuzzTargets", "CoreDataSQL", "CoreDataStorage", "CoreDataEvaluation", "CoreDataModel",
        "CoreDataPredicates", "CSQLite",
      ], swiftSettings: instrumented),
    fuzzer("fuzz-text"),
    fuzzer("fuzz-archive"),
    fuzzer("fuzz-tree"),
    fuzzer("fuzz-sql", "FuzzSQL"),
    // Writes the first inputs of the fuzzers.
    .executableTarget(
      name: "fuzz-seeds", dependencies: ["FuzzTargets", "PredicateVectors"], linkerSettings: linked),
  ],
  swiftLanguageModes: [.v6]
)
