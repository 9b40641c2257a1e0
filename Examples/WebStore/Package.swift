// swift-tools-version: 6.1
import PackageDescription

let package: Package = Package(
  name: "WebStore",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "WebStore", targets: ["WebStore"]),
    .executable(name: "web-store", targets: ["WebStoreDemo"]),
  ],
  dependencies: [
    .package(name: "clarus", path: "../..")
  ],
  targets: [
    .target(name: "WebStore", dependencies: [.product(name: "CoreData", package: "clarus")]),
    // A web service that keeps JSON records in memory; it knows nothing of Core Data.
    .target(name: "RecordService"),
    // Starts the service, shows what the store does, and checks it with the tests that every store passes.
    .executableTarget(
      name: "WebStoreDemo",
      dependencies: [
        "RecordService", "WebStore", .product(name: "CoreData", package: "clarus"),
        .product(name: "CoreDataStoreTests", package: "clarus"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
