// swift-tools-version: 6.1
import Foundation
import PackageDescription

// A package of somebody who uses Godwit: it sees what is public and nothing else, and a warning is an error. The
// tutorial's program is here, and README.md's sample; Tests/DocumentationTests holds both pages equal to it. One
// program has the cache alone.
//
//   swift build --package-path Tests/Outside --scratch-path FOLDER
//
// A package that is found by its path is called as its folder is, and a checkout may have any name.
let godwit = URL(fileURLWithPath: Context.packageDirectory)
  .deletingLastPathComponent().deletingLastPathComponent().lastPathComponent

let strict: [SwiftSetting] = [.unsafeFlags(["-warnings-as-errors"])]

let package = Package(
  name: "outside",
  dependencies: [
    .package(path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "notebook",
      dependencies: [.product(name: "Godwit", package: godwit)], swiftSettings: strict),
    .executableTarget(
      name: "samples",
      dependencies: [.product(name: "Godwit", package: godwit)], swiftSettings: strict),
    .executableTarget(
      name: "thumbnails",
      dependencies: [.product(name: "GodwitCache", package: godwit)], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
