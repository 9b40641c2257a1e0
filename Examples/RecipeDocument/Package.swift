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
    .executableTarget(name: "RecipesDemo", dependencies: ["Recipes"]),
  ],
  swiftLanguageModes: [.v6]
)
