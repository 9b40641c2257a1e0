// swift-tools-version: 6.1
import PackageDescription

let package: Package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "clarus", path: ".."),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
  ],
  targets: [
    .executableTarget(
      name: "clarus-bench",
      dependencies: [
        .product(name: "CoreData", package: "clarus"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      plugins: [.plugin(name: "CoreDataModelPlugin", package: "clarus")])
  ],
  swiftLanguageModes: [.v6]
)
