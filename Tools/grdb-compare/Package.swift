// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that Godwit never depends on GRDB, and the two never meet in one process: GRDB links the
// system's SQLite, Godwit SQLCipher, and both have the same symbols.
let package = Package(
  name: "grdb-compare",
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0")
  ],
  targets: [
    .executableTarget(name: "grdb-compare", dependencies: [.product(name: "GRDB", package: "GRDB.swift")])
  ],
  swiftLanguageModes: [.v6]
)
