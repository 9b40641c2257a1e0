// swift-tools-version: 6.1
import PackageDescription

// Targets have the order of the modules in ARCHITECTURE.md: a target may depend only on targets above it.

// The dependencies of a client of CoreData within this package: a target is rebuilt when one of its listed
// dependencies changes, and a stale subclass of NSManagedObject crashes (Decisions/0004).
let coreData: [Target.Dependency] = [
  "CoreData", "CoreDataMigration", "CoreDataControllers", "CoreDataGraph", "CoreDataModelChecking",
  "CoreDataModel", "CoreDataEvaluation", "CoreDataPredicates",
]

let package: Package = Package(
  name: "clarus",
  platforms: [.macOS(.v15)],
  products: [
    // The modules that CoreData re-exports are listed too: a client is rebuilt when one of its listed
    // dependencies changes, and a stale subclass of NSManagedObject crashes (Decisions/0004).
    .library(
      name: "CoreData",
      targets: [
        "CoreData", "CoreDataMigration", "CoreDataControllers", "CoreDataGraph", "CoreDataModelChecking",
        "CoreDataModel", "CoreDataEvaluation", "CoreDataPredicates",
      ]),
    // For tools that read and compare models: neither the evaluator nor SQL (Decisions/0065).
    .library(name: "CoreDataModel", targets: ["CoreDataModel", "CoreDataPredicates"]),
    .library(name: "EasyFetch", targets: ["EasyFetch"]),
    // What every store does, for the tests of a program's own store.
    .library(name: "CoreDataStoreTests", targets: ["CoreDataStoreTests"]),
    // Fills stores of all versions of a model and migrates them, in the tests of a program.
    .library(name: "CoreDataMigrationTesting", targets: ["CoreDataMigrationTesting"]),
    .executable(name: "clarus", targets: ["clarus"]),
    .executable(name: "coredata-modelc", targets: ["coredata-modelc"]),
    // Compiles the models of a target and generates their classes.
    .plugin(name: "CoreDataModelPlugin", targets: ["CoreDataModelPlugin"]),
    // Compiles sources for Apple's platforms as they stand.
    .plugin(name: "CoreDataSourcesPlugin", targets: ["CoreDataSourcesPlugin"]),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CZlib", path: "Sources/CZlib", pkgConfig: "zlib",
      providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CSwiftRuntime", path: "Sources/CSwiftRuntime"),
    // What depends on the memory layout of the Swift runtime.
    .target(name: "CoreDataRuntime"),
    // Property lists and keyed archives.
    .target(name: "CoreDataArchives", dependencies: ["CoreDataRuntime"]),
    .target(name: "CoreDataPredicates", dependencies: ["CoreDataArchives", "CoreDataRuntime"]),
    .target(name: "CoreDataModel", dependencies: ["CoreDataPredicates", "CoreDataArchives", "CZlib"]),
    // Swift source as tokens and declarations: accessors of @NSManaged members, porting. For tools.
    .target(name: "SwiftSources"),
    // Classes as Swift source; for tools.
    .target(name: "CoreDataCodeGeneration", dependencies: ["CoreDataModel", "CoreDataPredicates"]),
    // Models and classes at build time; every client of the plugin builds it.
    .executableTarget(
      name: "coredata-modelc",
      dependencies: ["CoreDataCodeGeneration", "CoreDataModel", "CoreDataPredicates", "SwiftSources"]),
    .plugin(
      name: "CoreDataModelPlugin", capability: .buildTool(), dependencies: ["coredata-modelc"]),
    .target(name: "CoreDataEvaluation", dependencies: ["CoreDataPredicates", "CoreDataRuntime"]),
    .target(
      name: "CoreDataModelChecking",
      dependencies: ["CoreDataEvaluation", "CoreDataModel", "CoreDataPredicates"]),
    // Sources of models as documents: editing and merging them. For tools.
    .target(
      name: "CoreDataModelEditing",
      dependencies: ["CoreDataArchives", "CoreDataModel", "CoreDataModelChecking", "CoreDataPredicates"]),
    // Pictures of models: entities as boxes, laid out in columns. For tools.
    .target(name: "CoreDataModelDrawing", dependencies: ["CoreDataModel", "CoreDataPredicates"]),
    .target(
      name: "CoreDataStorage",
      dependencies: ["CoreDataArchives", "CoreDataEvaluation", "CoreDataModel", "CoreDataPredicates"]),
    .target(
      name: "CoreDataSQL",
      dependencies: ["CoreDataStorage", "CoreDataEvaluation", "CoreDataModel", "CoreDataPredicates"]),
    .target(
      name: "CoreDataSQLite",
      dependencies: [
        "CoreDataSQL", "CoreDataStorage", "CoreDataEvaluation", "CoreDataModel", "CoreDataPredicates",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),
    .target(
      name: "CoreDataGraph",
      dependencies: [
        "CoreDataSQLite", "CoreDataStorage", "CoreDataModelChecking", "CoreDataEvaluation", "CoreDataModel",
        "CoreDataPredicates", "CoreDataArchives", "CoreDataRuntime", "CSwiftRuntime",
      ]),
    .target(
      name: "CoreDataControllers",
      dependencies: [
        "CoreDataGraph", "CoreDataEvaluation", "CoreDataModel", "CoreDataPredicates", "CoreDataStorage",
      ]),
    .target(
      name: "CoreDataMigration",
      dependencies: [
        "CoreDataControllers", "CoreDataGraph", "CoreDataStorage", "CoreDataModel", "CoreDataEvaluation",
        "CoreDataPredicates", "CoreDataArchives", "CoreDataRuntime",
      ]),
    .target(
      name: "CoreData",
      dependencies: [
        "CoreDataMigration", "CoreDataControllers", "CoreDataGraph", "CoreDataModelChecking",
        "CoreDataEvaluation", "CoreDataModel", "CoreDataPredicates",
      ]),
    // A client like any other: it has access to public declarations only (Decisions/0042).
    .target(name: "EasyFetch", dependencies: coreData, packageAccess: false),
    // A client too; it imports no test framework.
    .target(name: "CoreDataStoreTests", dependencies: coreData, packageAccess: false),
    .target(name: "CoreDataMigrationTesting", dependencies: coreData, packageAccess: false),
    // Every client of the plugin builds it.
    .executableTarget(name: "coredata-sources", dependencies: ["SwiftSources"]),
    .plugin(
      name: "CoreDataSourcesPlugin", capability: .buildTool(), dependencies: ["coredata-sources"]),
    .executableTarget(
      name: "clarus",
      dependencies: [
        "CoreDataMigration", "CoreDataGraph", "CoreDataArchives", "CoreDataEvaluation", "CoreDataModel",
        "CoreDataCodeGeneration", "CoreDataModelChecking", "CoreDataModelDrawing", "CoreDataModelEditing",
        "CoreDataPredicates", "CoreDataSQL", "CoreDataSQLite", "CoreDataStorage", "SwiftSources",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),

    // Seeded random numbers, temporary folders, whether the slow runs are wanted.
    .target(name: "TestSupport", path: "Tests/TestSupport"),
    // Stores as their authors would write them: an atomic one, an incremental one.
    .target(
      name: "ProgramStores", dependencies: coreData, path: "Tests/ProgramStores", packageAccess: false),
    // Stacks and the model of the behaviour suite, for the tests of the graph and above.
    .target(
      name: "StackSupport",
      dependencies: coreData + [
        "ProgramStores", "TestSupport", "CoreDataStorage", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ], path: "Tests/StackSupport"),
    // Counts the calls of a process that change files, and ends it, or has them fail, from the n-th on.
    .target(name: "CCrashPoints", path: "Tests/CCrashPoints"),
    // What processes do that are stopped at a point, and how tests start them.
    .target(
      name: "CrashScenarios", dependencies: coreData + ["CCrashPoints", "StackSupport", "TestSupport"],
      path: "Tests/CrashScenarios"),
    // The program that is stopped; tests of stores and migrations run it.
    .executableTarget(
      name: "CrashTool", dependencies: coreData + ["CrashScenarios"], path: "Tests/CrashTool"),
    // The vectors of predicates, for the tests in memory and through stores.
    .target(name: "PredicateVectors", dependencies: ["TestSupport"], path: "Tests/PredicateVectors"),
    .testTarget(
      name: "SwiftSourcesTests",
      dependencies: coreData + ["SwiftSources", "TestSupport", "coredata-sources"], exclude: ["Forms"]),
    .testTarget(name: "CoreDataRuntimeTests", dependencies: ["CoreDataRuntime"]),
    .testTarget(
      name: "CoreDataPredicatesTests",
      dependencies: [
        "PredicateVectors", "TestSupport", "CoreDataEvaluation", "CoreDataPredicates", "CoreDataArchives",
      ]),
    // A program that is linked without the evaluator, SQL and stores; the tests of the model run it.
    .executableTarget(
      name: "ModelTool", dependencies: ["CoreDataModel", "CoreDataPredicates"], path: "Tests/ModelTool"),
    .testTarget(
      name: "CoreDataModelTests",
      dependencies: [
        "ModelTool", "TestSupport", "CoreDataModelChecking", "CoreDataModelDrawing", "CoreDataModelEditing",
        "CoreDataModel", "CoreDataPredicates", "CoreDataArchives",
      ],
      resources: [.copy("Fixtures")]),
    // A program that applies the plugin: its classes are generated in the build.
    .testTarget(
      name: "CoreDataModelPluginTests", dependencies: coreData, packageAccess: false,
      plugins: ["CoreDataModelPlugin"]),
    // The generated code is compiled too, with the modules of this build.
    // The program that reads damaged files of models.
    .executableTarget(
      name: "ModelVariants",
      dependencies: [
        "CoreDataArchives", "CoreDataCodeGeneration", "CoreDataModel", "CoreDataModelChecking", "TestSupport",
      ],
      path: "Tests/ModelVariants"),
    .testTarget(
      name: "CoreDataCodeGenerationTests",
      dependencies: coreData + ["CoreDataCodeGeneration", "ModelVariants", "TestSupport"],
      exclude: ["Fixtures"]),
    .testTarget(
      name: "CoreDataEvaluationTests",
      dependencies: ["PredicateVectors", "TestSupport", "CoreDataEvaluation", "CoreDataPredicates"]),
    // The common behaviour of all stores; the tests of each engine run it.
    .target(
      name: "StoreConformance",
      dependencies: ["CoreDataStorage", "CoreDataModel", "CoreDataPredicates"],
      path: "Tests/StoreConformance"),
    .testTarget(
      name: "CoreDataStorageTests",
      dependencies: [
        "StoreConformance", "TestSupport", "CoreDataStorage", "CoreDataEvaluation", "CoreDataModel",
        "CoreDataPredicates",
      ]),
    .testTarget(
      name: "CoreDataSQLTests",
      dependencies: ["CoreDataSQL", "CoreDataStorage", "CoreDataModel", "CoreDataPredicates"],
      exclude: ["Goldens"]),
    .testTarget(
      name: "CoreDataSQLiteTests",
      dependencies: [
        "StoreConformance", "TestSupport", "CoreDataSQLite", "CoreDataSQL", "CoreDataStorage",
        "CoreDataModel",
        "CoreDataPredicates",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    // One object, one context, one save at a time.
    .testTarget(
      name: "CoreDataMigrationTests",
      dependencies: coreData + [
        "CrashScenarios", "CrashTool", "StackSupport", "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    // The helper for programs' tests, and with it the histories of real models and their stores.
    .testTarget(
      name: "CoreDataMigrationTestingTests",
      dependencies: coreData + ["CoreDataMigrationTesting", "TestSupport"]),
    .testTarget(
      name: "CoreDataGraphTests",
      dependencies: coreData + [
        "StackSupport", "StoreConformance", "TestSupport", "CoreDataRuntime", "CoreDataStorage",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .testTarget(
      name: "CoreDataControllersTests",
      dependencies: coreData + ["StackSupport", "TestSupport"]),
    // The whole, from a request to the file: predicates, store files, several processes.
    .testTarget(
      name: "CoreDataTests",
      dependencies: coreData + [
        "CrashScenarios", "CrashTool", "PredicateVectors", "StackSupport", "TestSupport", "CoreDataArchives",
        "CoreDataSQL",
        "CoreDataSQLite",
        "CoreDataStorage",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),
    // Programs' own stores, as clients of the public interface.
    .testTarget(
      name: "ProgramStoresTests", dependencies: coreData + ["CoreDataStoreTests", "ProgramStores"],
      packageAccess: false),
    .testTarget(name: "EasyFetchTests", dependencies: coreData + ["EasyFetch"], packageAccess: false),
    // The code of the pages in Documentation; a client like any other.
    .testTarget(name: "DocumentationTests", dependencies: coreData + ["CoreDataMigrationTesting"]),
    // Programs that import CoreData and no internal module, in the Swift 6 mode. Their code compiles without
    // a warning.
    .target(
      name: "LenientClient", dependencies: coreData, path: "Tests/LenientClient",
      swiftSettings: [.unsafeFlags(["-suppress-warnings"])]),
    .testTarget(
      name: "ClientTests", dependencies: coreData + ["LenientClient"],
      resources: [.copy("Album.xcdatamodeld"), .copy("Single.xcdatamodel")],
      swiftSettings: [.unsafeFlags(["-warnings-as-errors"])]),
    // The same in a module whose code is on the main actor unless it says otherwise.
    .testTarget(
      name: "MainActorClientTests", dependencies: coreData,
      swiftSettings: [.unsafeFlags(["-warnings-as-errors", "-default-isolation", "MainActor"])]),
    .testTarget(
      name: "clarusTests",
      dependencies: [
        "clarus", "StoreConformance", "TestSupport", "CoreDataGraph", "CoreDataSQLite", "CoreDataStorage",
        "CoreDataModel", "CoreDataPredicates", "CoreDataArchives",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// `make test MODULE=CoreDataGraph`: the tests of one module, and their dependencies.
if let module = Context.environment["CLARUS_MODULE"], !module.isEmpty {
  package.targets.removeAll { $0.type == .test && $0.name != "\(module)Tests" }
  // These run the program. Where all tests are built, it is built too, and a dependency would link it twice:
  // the tests of the plugin have it already.
  if module == "CoreDataCodeGeneration" {
    package.targets.last { $0.name == "\(module)Tests" }?.dependencies.append("coredata-modelc")
  }
}
