// swift-tools-version: 6.1
import Foundation
import PackageDescription

// The arrows of Specs/README.md, from the bottom up. A module imports only what is listed here;
// `swift build --explicit-target-dependency-import-check error` holds it to that.
let package = Package(
  name: "godwit",
  products: [
    .library(name: "Godwit", targets: ["Godwit"]),
    .library(name: "GodwitCache", targets: ["GodwitCache"]),
    .library(name: "godwit-c", type: .dynamic, targets: ["GodwitC"]),
    .executable(name: "godwit", targets: ["godwit-cli"]),
    .executable(name: "godwit-agent", targets: ["godwit-agent"]),
    .executable(name: "godwit-ui", targets: ["godwit-ui"]),
    .executable(name: "godwit-bench", targets: ["godwit-bench"]),
    .executable(name: "godwit-sim", targets: ["godwit-sim"]),
    .executable(name: "inventory-agent", targets: ["inventory-agent"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    // For the agent and the page that lives alone
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
  ],
  targets: [
    // System libraries
    .systemLibrary(
      name: "CSQLCipher", pkgConfig: "sqlcipher", providers: [.apt(["libsqlcipher-dev", "libssl-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CSpawn"),
    // What programs in C include: godwit.h
    .systemLibrary(name: "CGodwit"),

    // libcurl, loaded when it is first used; its header comes with libcurl4-openssl-dev
    .target(name: "CCurl", linkerSettings: [.linkedLibrary("dl")]),

    // Foundations: errors and bytes; files opened safely
    .target(name: "GodwitBase"),
    .target(name: "GodwitFiles", dependencies: ["GodwitBase", "CSpawn"]),

    // Rooms
    .target(name: "GodwitStorage", dependencies: ["GodwitBase", "GodwitFiles", "CSQLCipher"]),
    .target(name: "GodwitCore", dependencies: ["GodwitBase"]),
    .target(
      name: "GodwitCrypto",
      dependencies: [
        "GodwitBase", "GodwitFiles", "COpenSSL", .product(name: "Crypto", package: "swift-crypto"),
      ]),
    .target(
      name: "GodwitKeys",
      dependencies: [
        "GodwitBase", "GodwitFiles", "GodwitCrypto", .product(name: "Crypto", package: "swift-crypto"),
      ]),
    .target(
      name: "GodwitSyncFile", dependencies: ["GodwitBase", "GodwitCore", "GodwitCrypto", "GodwitKeys", "CZstd"]),
    .target(
      name: "GodwitRemotes",
      dependencies: ["GodwitBase", "GodwitFiles", "GodwitCore", "GodwitCrypto", "CCurl", "CExpat"]),
    .target(name: "GodwitModel", dependencies: ["GodwitBase", "GodwitStorage", "GodwitCore"]),
    .target(
      name: "GodwitCache",
      dependencies: [
        "GodwitBase", "GodwitFiles", "GodwitStorage", "GodwitCrypto", .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "GodwitEngine",
      dependencies: [
        "GodwitBase", "GodwitFiles", "GodwitStorage", "GodwitCore", "GodwitCrypto", "GodwitKeys", "GodwitSyncFile",
        "GodwitModel",
      ]),
    .target(
      name: "GodwitDocuments",
      dependencies: ["GodwitBase", "GodwitStorage", "GodwitCore", "GodwitModel", "GodwitEngine"]),
    .target(
      name: "Godwit",
      dependencies: [
        "GodwitBase", "GodwitFiles", "GodwitStorage", "GodwitCore", "GodwitCrypto", "GodwitKeys", "GodwitSyncFile",
        "GodwitModel", "GodwitRemotes", "GodwitEngine", "GodwitDocuments", "GodwitCache",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .target(name: "GodwitReports", dependencies: ["Godwit", "GodwitFiles"]),
    .target(name: "GodwitPages", dependencies: ["Godwit", "GodwitReports"]),
    .target(name: "GodwitAgent", dependencies: ["Godwit", "GodwitBase", "GodwitRemotes", "GodwitReports"]),
    .target(
      name: "GodwitC",
      dependencies: [
        "CGodwit", "Godwit", "GodwitEngine", "GodwitModel", "GodwitStorage", "GodwitReports",
        .product(name: "Logging", package: "swift-log"),
      ],
      exclude: ["exports.map"],
      linkerSettings: [
        // No symbol of Swift's leaves the library, and what it has inside is its own.
        .unsafeFlags(
          [
            "-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/GodwitC/exports.map",
            "-Xlinker", "-soname=libgodwit.so.0",
            // Swift's threads, and what threads have kept here, stay when a program closes the library.
            "-Xlinker", "-z", "-Xlinker", "nodelete",
          ] + (Context.environment["GODWIT_PACKAGE"] == nil ? [] : ["-static-stdlib"]))
      ]),
    .target(
      name: "GodwitSimulation",
      dependencies: [
        "Godwit", "GodwitBase", "GodwitFiles", "GodwitStorage", "GodwitCore", "GodwitEngine", "GodwitCrypto",
        "GodwitKeys", "GodwitSyncFile", "GodwitRemotes",
        .product(name: "Logging", package: "swift-log"),
      ]),

    // Tools
    .target(
      name: "ToolSupport",
      dependencies: [
        "Godwit", "GodwitFiles", "GodwitCrypto", "GodwitKeys", "GodwitReports",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tools/support"),
    .target(
      name: "ToolServer",
      dependencies: [
        "Godwit", .product(name: "FlyingFox", package: "FlyingFox"),
        .product(name: "FlyingSocks", package: "FlyingFox"),
      ],
      path: "Tools/server"),
    .executableTarget(
      name: "godwit-cli",
      dependencies: [
        "Godwit", "GodwitFiles", "GodwitPages", "ToolSupport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/godwit"),
    .executableTarget(
      name: "godwit-agent",
      dependencies: [
        "GodwitAgent", "Godwit", "GodwitFiles", "GodwitReports", "ToolSupport", "ToolServer",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "FlyingFox", package: "FlyingFox"), .product(name: "FlyingSocks", package: "FlyingFox"),
      ],
      path: "Tools/godwit-agent"),
    .executableTarget(
      name: "godwit-ui",
      dependencies: [
        "Godwit", "GodwitPages", "GodwitReports", "ToolSupport", "ToolServer",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "FlyingFox", package: "FlyingFox"),
      ],
      path: "Tools/godwit-ui", resources: [.embedInCode("Assets/page.js")]),
    .executableTarget(
      name: "godwit-bench",
      dependencies: [
        "Godwit", "GodwitBase", "GodwitCrypto", "GodwitKeys", "GodwitModel", "GodwitCore", "GodwitStorage",
        "GodwitSyncFile", "GodwitSimulation", "GodwitFiles", "GodwitRemotes", "TestServers",
        "COpenSSL", "CSQLCipher", .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      path: "Tools/godwit-bench"),
    .executableTarget(
      name: "godwit-sim",
      dependencies: [
        "Godwit", "GodwitSimulation", "ToolSupport", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/godwit-sim"),
    .executableTarget(
      name: "inventory-agent",
      dependencies: [
        "Godwit", "ToolSupport", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/inventory-agent"),

    // Tests
    .target(name: "TestFolders", path: "Tests/TestFolders"),
    .target(name: "TestAge", dependencies: ["GodwitBase"], path: "Tests/TestAge"),
    .target(name: "TestServers", dependencies: ["TestFolders"], path: "Tests/TestServers"),
    .testTarget(name: "TidyTests"),
    .testTarget(name: "GodwitBaseTests", dependencies: ["GodwitBase", "TestFolders"]),
    .testTarget(
      name: "GodwitKeysTests",
      dependencies: ["GodwitCrypto", "GodwitKeys", "GodwitBase", "GodwitFiles", "TestFolders", "TestAge"]),
    .testTarget(
      name: "GodwitStorageTests", dependencies: ["GodwitStorage", "GodwitBase", "GodwitFiles", "TestFolders"]),
    .testTarget(name: "GodwitCoreTests", dependencies: ["GodwitCore", "GodwitBase"]),
    .testTarget(
      name: "GodwitSyncFileTests",
      dependencies: ["GodwitSyncFile", "GodwitCore", "GodwitCrypto", "GodwitKeys", "GodwitBase"]),
    .testTarget(
      name: "GodwitRemotesTests",
      dependencies: ["GodwitRemotes", "GodwitCore", "GodwitCrypto", "GodwitFiles", "GodwitBase", "TestServers"]),
    .testTarget(
      name: "GodwitSimulationTests",
      dependencies: [
        "GodwitSimulation", "Godwit", "GodwitBase", "GodwitCore", "GodwitEngine", "GodwitStorage", "godwit-sim",
        "TestFolders",
      ]),
    .testTarget(
      name: "GodwitTests",
      dependencies: [
        "Godwit", "GodwitBase", "GodwitStorage", "GodwitCore", "GodwitCrypto", "GodwitKeys", "GodwitSyncFile",
        "GodwitModel",
        "GodwitEngine", "GodwitDocuments", "GodwitCache", "GodwitSimulation", "kill-subject", "TestFolders",
        "TestServers", "TestAge",
      ]),
    .executableTarget(name: "kill-subject", dependencies: ["Godwit"], path: "Tests/KillSubject"),
    .testTarget(name: "DocumentationTests", dependencies: ["documentation-samples", "TestFolders"]),
    .executableTarget(
      name: "documentation-samples", dependencies: ["Godwit", "GodwitCache"], path: "Tests/DocumentationSamples"),
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "ToolSupport", "Godwit", "GodwitAgent", "GodwitPages", "GodwitBase", "GodwitCrypto", "GodwitEngine",
        "GodwitKeys",
        "GodwitStorage", "godwit-cli", "godwit-agent", "godwit-ui", "TestFolders", "TestServers",
      ]),
    .testTarget(
      name: "InventoryAgentTests",
      dependencies: [
        "inventory-agent", "Godwit", "TestFolders", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// Documentation is built with GODWIT_DOCC=1, so that users of the library never fetch the plugin.
if ProcessInfo.processInfo.environment["GODWIT_DOCC"] != nil {
  package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}

// The same decoders and checks are run by libFuzzer with GODWIT_FUZZ=1 (Tools/fuzz), which brings its own entry point,
// and otherwise by the tests over Tests/FuzzTests/Inputs.
let decoders: [Target.Dependency] = [
  "Godwit", "GodwitBase", "GodwitFiles", "GodwitCrypto", "GodwitKeys", "GodwitModel", "GodwitCore", "GodwitEngine",
  "GodwitSyncFile", "TestAge",
]
package.targets.append(
  ProcessInfo.processInfo.environment["GODWIT_FUZZ"] != nil
    ? .executableTarget(
      name: "godwit-fuzz", dependencies: decoders, path: "Tests/FuzzTests", exclude: ["Corpus", "Inputs"])
    : .testTarget(name: "FuzzTests", dependencies: decoders, exclude: ["Fuzzer", "Inputs"]))

// Tests spend their time in these, so Tools/test has them optimized in debug builds, with their assertions. A program that
// depends on Godwit decides that for itself.
if Context.environment["GODWIT_TESTS"] != nil {
  let busy = [
    "GodwitBase", "GodwitFiles", "GodwitStorage", "GodwitCore", "GodwitCrypto", "GodwitKeys", "GodwitSyncFile",
    "GodwitModel", "GodwitEngine", "GodwitCoreTests",
  ]
  for target in package.targets where busy.contains(target.name) {
    target.swiftSettings = [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]
  }
}
