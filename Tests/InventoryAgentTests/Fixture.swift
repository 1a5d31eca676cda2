import Foundation
import Godwit
import TestFolders
import Testing

@testable import inventory_agent

/// A folder of mode 0700 that goes away with the value.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "inventory-agent-\(UInt64.random(in: 0...UInt64.max))"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { TestFolder.remove(path) }

  func path(_ name: String) -> String { "\(path)/\(name)" }
}

/// An inventory in a new replica.
struct Fixture {
  private let folder: TemporaryFolder
  let inventory: Inventory

  init() async throws {
    folder = try TemporaryFolder()
    let path = folder.path("replica")
    try await Replica.open(at: path, models: Machine.self, configuration: .init(name: "desk")).close()
    inventory = try await Inventory.open(at: path, key: .keyring())
  }

  @discardableResult
  func scan(_ host: HostMachine, status: String, available: String? = nil) async throws -> ScanReport {
    try Data(status.utf8).write(to: URL(fileURLWithPath: folder.path("status")))
    var sources = [PackageSource.statusFile(folder.path("status"))]
    if let available {
      try Data(available.utf8).write(to: URL(fileURLWithPath: folder.path("available")))
      sources.append(.availableFile(folder.path("available")))
    }
    return try await inventory.scan(host, from: sources)
  }

  /// How many transactions the replica holds.
  func transactions() async throws -> Int { try await inventory.replica.history.log(limit: 1_000).count }
}

/// Expects a `GodwitError` of this code, and returns it.
@discardableResult
func expect<Output>(
  throwing code: GodwitError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ work: () async throws -> Output
) async -> GodwitError? {
  do {
    _ = try await work()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
  } catch {
    let error = error as? GodwitError
    #expect(error?.code == code, sourceLocation: sourceLocation)
    return error
  }
  return nil
}

extension String {
  /// Two installed architectures of one package, one on hold, one removed but for its settings, one only known of.
  static let status = """
    Package: libc6
    Status: install ok installed
    Priority: optional
    Section: libs
    Installed-Size: 12988
    Architecture: amd64
    Multi-Arch: same
    Version: 2.36-9+deb12u7
    Description: GNU C Library: Shared libraries

    Package: libc6
    Status: install ok installed
    Section: libs
    Architecture: i386
    Version: 2.36-9+deb12u7
    Description: GNU C Library: Shared libraries

    Package: tar
    Essential: yes
    Status: hold ok installed
    Section: utils
    Installed-Size: 3152
    Architecture: amd64
    Version: 1.34+dfsg-1.2+deb12u1
    Conffiles:
     /etc/rmt 3c58b7cd13da1085eff0acc6a00f43c7
    Description: GNU version of the tar archiving utility
     Tar is a program.
     .
     It packs files.

    Package: nano
    Status: deinstall ok config-files
    Architecture: amd64
    Version: 7.2-1

    Package: vim
    Status: unknown ok not-installed

    """

  /// A higher version of an installed package, and two versions of one that is not.
  static let available = """
    Package: tar
    Version: 1.99-1
    Architecture: amd64
    Description: GNU version of the tar archiving utility

    Package: zsh
    Version: 5.10-1
    Architecture: amd64
    Description: shell with lots of features

    Package: zsh
    Version: 5.9-4
    Architecture: amd64
    Description: shell with lots of features

    """
}
