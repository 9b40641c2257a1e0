// swift-tools-version: 6.1
import CompilerPluginSupport
import PackageDescription

// A package of its own: only who uses the macros builds swift-syntax.
let package: Package = Package(
  name: "clarus-macros",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [.library(name: "CoreDataMacros", targets: ["CoreDataMacros"])],
  dependencies: [
    .package(name: "clarus", path: ".."),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
  ],
  targets: [
    // Works on syntax; knows neither models nor stores.
    .macro(
      name: "CoreDataMacrosPlugin",
      dependencies: [
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
        .product(name: "SwiftDiagnostics", package: "swift-syntax"),
      ]),
    // The macros' declarations, and what their expansions call.
    .target(
      name: "CoreDataMacros",
      dependencies: ["CoreDataMacrosPlugin", .product(name: "CoreData", package: "clarus")]),
    .testTarget(
      name: "CoreDataMacrosTests",
      dependencies: [
        "CoreDataMacros", "CoreDataMacrosPlugin", .product(name: "CoreData", package: "clarus"),
        .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
        .product(name: "SwiftParser", package: "swift-syntax"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// `make macro-twins`: the models of real programs, declared by macros.
if Context.environment["CLARUS_TWINS"] == "1" {
  package.targets += [
    .executableTarget(
      name: "DrawnTwinSource", dependencies: [.product(name: "CoreDataModel", package: "clarus")],
      path: "Tests/DrawnTwinSource"),
    .testTarget(
      name: "DrawnTwinTests", dependencies: ["CoreDataMacros", .product(name: "CoreData", package: "clarus")]),
  ]
}
