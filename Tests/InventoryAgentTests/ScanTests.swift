import Foundation
import Godwit
import Testing

@testable import inventory_agent

@Suite("Scans")
struct ScanTests {
  private let host = HostMachine(name: "desk", architecture: "x86_64")

  @Test("a first scan records what is installed, as dpkg wrote it")
  func firstScan() async throws {
    let fixture = try await Fixture()
    let report = try await fixture.scan(host, status: .status)
    #expect(report == ScanReport(scanned: 3, new: 3))
    let packages = try await fixture.inventory.packages(of: MachineSelector())
    #expect(packages.map(\.name) == ["libc6", "libc6", "tar"])
    #expect(packages.map(\.architecture) == ["amd64", "i386", "amd64"])
    let tar = try #require(packages.last)
    #expect(tar.version == "1.34+dfsg-1.2+deb12u1")
    #expect(tar.section == "utils")
    #expect(tar.installedSizeKiB == 3_152)
    #expect(tar.description == "GNU version of the tar archiving utility\nTar is a program.\n\nIt packs files.")
    #expect(tar.isInstalled)
    #expect(try await fixture.inventory.replica.fetch(Machine.all).map(\.name) == ["desk"])
  }

  @Test("a second scan finds nothing new and writes no transaction")
  func secondScan() async throws {
    let fixture = try await Fixture()
    try await fixture.scan(host, status: .status, available: .available)
    let before = try await fixture.transactions()
    let report = try await fixture.scan(host, status: .status, available: .available)
    #expect(report == ScanReport(scanned: 4, same: 4))
    #expect(try await fixture.transactions() == before)
  }

  @Test("a new version is one update, and the note and the pin stay")
  func newVersion() async throws {
    let fixture = try await Fixture()
    try await fixture.scan(host, status: .status)
    _ = try await fixture.inventory.edit(PackageSelector(name: "tar")) {
      $0.note = "keep"
      $0.isPinned = true
    }
    let report = try await fixture.scan(host, status: .status.replacing("1.34+dfsg", with: "1.35+dfsg"))
    #expect(report == ScanReport(scanned: 3, changed: 1, same: 2))
    let tar = try #require(try await fixture.inventory.packages(of: MachineSelector(), prefix: "tar").first)
    #expect(tar.version == "1.35+dfsg-1.2+deb12u1")
    #expect(tar.note == "keep")
    #expect(tar.isPinned)
    let latest = try #require(try await fixture.inventory.replica.history.log(limit: 1).first)
    #expect(latest.changes.first { $0.table == "package" }?.updated == 1)
  }

  @Test("a package that was removed goes, and others stay")
  func removed() async throws {
    let fixture = try await Fixture()
    try await fixture.scan(host, status: .status)
    let report = try await fixture.scan(
      host, status: .status.replacing("hold ok installed", with: "deinstall ok config-files"))
    #expect(report == ScanReport(scanned: 2, gone: 1, same: 2))
    #expect(try await fixture.inventory.packages(of: MachineSelector()).map(\.name) == ["libc6", "libc6"])
  }

  @Test("the installed version counts before a higher one, and of others the highest")
  func versions() async throws {
    let fixture = try await Fixture()
    try await fixture.scan(host, status: .status, available: .available)
    let packages = try await fixture.inventory.packages(of: MachineSelector())
    let versions = packages.map { "\($0.name) \($0.version)" }
    #expect(versions.contains("tar 1.34+dfsg-1.2+deb12u1"))
    #expect(versions.contains("zsh 5.10-1"))
    #expect(packages.first { $0.name == "zsh" }?.isInstalled == false)
  }

  @Test("a scan without apt's lists leaves alone what only they know of")
  func withoutLists() async throws {
    let fixture = try await Fixture()
    try await fixture.scan(host, status: .status, available: .available)
    let report = try await fixture.scan(host, status: .status)
    #expect(report == ScanReport(scanned: 3, same: 3))
    #expect(try await fixture.inventory.packages(of: MachineSelector()).count == 4)
  }

  @Test("machines are distinguished")
  func machines() async throws {
    let fixture = try await Fixture()
    try await fixture.scan(host, status: .status)
    let report = try await fixture.scan(HostMachine(name: "rack", architecture: "x86_64"), status: .status)
    #expect(report.new == 3)
    let own = try await fixture.inventory.replica.read { try MachineSelector(hostName: "desk").machine(in: $0) }
    #expect(own.name == "desk")
    let selector = PackageSelector(machine: MachineSelector(name: "rack"), name: "tar")
    #expect(try await fixture.inventory.forget(selector) == 1)
    #expect(try await fixture.inventory.packages(of: MachineSelector(name: "desk")).count == 3)
    #expect(try await fixture.inventory.packages(of: MachineSelector(name: "rack")).count == 2)
  }

  @Test("a package that somebody edits while a scan compares keeps the edit")
  func concurrentEdit() async throws {
    let fixture = try await Fixture()
    try await fixture.scan(host, status: .status)
    let stored = try await fixture.inventory.packages(of: MachineSelector(), prefix: "tar")
    var found = try #require(stored.first)
    found.version = "2"
    var list = PackageList()
    list.add(found)
    let plan = ScanPlan(stored: stored, found: list, includesAvailable: false)
    _ = try await fixture.inventory.edit(PackageSelector(name: "tar")) { $0.note = "meanwhile" }
    try await fixture.inventory.replica.write { transaction in
      for change in plan.changes { try change.apply(in: transaction) }
    }
    let tar = try #require(try await fixture.inventory.packages(of: MachineSelector(), prefix: "tar").first)
    #expect(tar.version == "2")
    #expect(tar.note == "meanwhile")
  }
}
