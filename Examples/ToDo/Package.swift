// swift-tools-version: 6.1
import PackageDescription

let package: Package = Package(
  name: "ToDo",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "ToDoDemo", targets: ["ToDoDemo"]),
    .executable(name: "make-stores", targets: ["MakeStores"]),
  ],
  dependencies: [
    .package(name: "clarus", path: "../..")
  ],
  targets: [
    // The model as Xcode keeps it, in two versions. The plugin compiles it and generates its classes.
    .target(
      name: "ToDo",
      dependencies: [.product(name: "CoreData", package: "clarus")],
      plugins: [.plugin(name: "CoreDataModelPlugin", package: "clarus")]),
    // The program of `make demo`. It names CoreData too: a target is rebuilt when one of its listed
    // dependencies changes (Decisions/0004).
    .executableTarget(
      name: "ToDoDemo", dependencies: ["ToDo", .product(name: "CoreData", package: "clarus")]),
    // The code of the README, compiled.
    .executableTarget(
      name: "ReadmeSnippet", dependencies: ["ToDo", .product(name: "CoreData", package: "clarus")]),
    // Writes Examples/Stores.
    .executableTarget(
      name: "MakeStores", dependencies: [.product(name: "CoreData", package: "clarus")]),
  ],
  swiftLanguageModes: [.v6]
)
