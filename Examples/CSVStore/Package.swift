// swift-tools-version: 6.1
import PackageDescription

let package: Package = Package(
  name: "CSVStore",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "CSVStore", targets: ["CSVStore"]),
    .executable(name: "csv-store", targets: ["CSVStoreDemo"]),
  ],
  dependencies: [
    .package(name: "clarus", path: "../..")
  ],
  targets: [
    .target(name: "CSVStore", dependencies: [.product(name: "CoreData", package: "clarus")]),
    // Shows what the store does, and checks it with the tests that every store passes.
    .executableTarget(
      name: "CSVStoreDemo",
      dependencies: [
        "CSVStore", .product(name: "CoreData", package: "clarus"),
        .product(name: "CoreDataStoreTests", package: "clarus"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
