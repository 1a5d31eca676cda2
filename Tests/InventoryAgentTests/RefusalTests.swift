import ArgumentParser
import Foundation
import Godwit
import Testing

@testable import inventory_agent

@Suite("Refusals")
struct RefusalTests {
  private let host = HostMachine(name: "desk", architecture: "x86_64")

  @Test("a folder without a replica is refused and left as it is")
  func noReplica() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("nothing")
    await expect(throwing: .noReplica) { try await Inventory.open(at: path, key: .keyring()) }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("every command refuses a folder without a replica", arguments: ["scan", "list", "pin tar", "note tar x"])
  func noReplicaForCommands(arguments: String) async throws {
    let folder = try TemporaryFolder()
    let all = arguments.split(separator: " ").map(String.init) + ["-C", folder.path]
    var command = try #require(try InventoryAgent.parseAsRoot(all) as? any AsyncParsableCommand)
    await expect(throwing: .noReplica) { try await command.run() }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test(
    "a malformed list is refused with its line, and nothing is written",
    arguments: [
      ("Package: a\nnonsense\n", "line 2:"),
      ("Status: install ok installed\nPackage: a\nArchitecture: all\n", "line 1:"),
      (String.status + "\n" + String.status.replacing("3152", with: "many"), "line 57:"),
    ])
  func malformed(status: String, place: String) async throws {
    let fixture = try await Fixture()
    let error = await expect(throwing: .corruptFile) { try await fixture.scan(host, status: status) }
    #expect(error?.message.contains(place) == true, "\(error?.message ?? "")")
    #expect(try await fixture.transactions() == 0)
  }

  @Test("a list without packages is refused, for it would delete everything")
  func empty() async throws {
    let fixture = try await Fixture()
    try await fixture.scan(host, status: .status)
    await expect(throwing: .noPackages) { try await fixture.scan(host, status: "") }
    await expect(throwing: .noPackages) { try await fixture.scan(host, status: .status, available: "") }
    #expect(try await fixture.inventory.packages(of: MachineSelector()).count == 3)
  }

  @Test("a missing status file is refused")
  func missingFile() async throws {
    let fixture = try await Fixture()
    await expect(throwing: .fileAccess) {
      try await fixture.inventory.scan(host, from: [.statusFile("/nonexistent/status")])
    }
  }

  @Test("an apt-cache that is not there or fails is refused", arguments: ["/nonexistent/apt-cache", "/bin/false"])
  func apt(path: String) async throws {
    await expect(throwing: .aptFailed) {
      let apt = try AptCache(path: path)
      while !(try apt.nextChunk().isEmpty) {}
      try apt.finish()
    }
  }

  @Test("a package or machine that is not there is refused")
  func notFound() async throws {
    let fixture = try await Fixture()
    await expect(throwing: .notFound) { try await fixture.inventory.packages(of: MachineSelector()) }
    try await fixture.scan(host, status: .status)
    await expect(throwing: .notFound) { try await fixture.inventory.forget(PackageSelector(name: "nano")) }
    await expect(throwing: .notFound) {
      try await fixture.inventory.forget(PackageSelector(name: "tar", architecture: "arm64"))
    }
    await expect(throwing: .notFound) {
      try await fixture.inventory.packages(of: MachineSelector(name: "rack"))
    }
  }
}
