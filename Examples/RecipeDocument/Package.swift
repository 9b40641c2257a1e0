// swift-tools-version: 6.1
import PackageDescription

let package: Package = Package(
  name: "RecipeDocument",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "clarus", path: "../..")
  ],
  targets: [
    // The objects, and a document that keeps them in a JSON file of its own.
    .target(name: "Recipes", dependencies: [.product(name: "CoreData", package: "clarus")]),
    // It names CoreData too: a target is rebuilt when one of its dependencies changes (Decisions/0004).
    .executableTarget(
      name: "RecipesDemo", dependencies: ["Recipes", .product(name: "CoreData", package: "clarus")]),
  ],
  swiftLanguageModes: [.v6]
)
