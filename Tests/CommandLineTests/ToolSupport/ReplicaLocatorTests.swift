import Foundation
import Godwit
import Testing
import ToolSupport

@Suite struct ReplicaLocatorTests {
  private func folder(with files: String...) throws -> Machine {
    let machine = try Machine("locator")
    for file in files {
      let path = machine.path(file)
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try Data().write(to: URL(fileURLWithPath: path))
    }
    return machine
  }

  private func locator(
    _ path: String? = nil, here: String = "/", environment: [String: String] = ["HOME": "/home/u"],
    keyring: String? = nil, machineKey: String? = nil
  ) -> ReplicaLocator {
    ReplicaLocator(
      path: path, keyring: keyring, machineKey: machineKey, environment: environment, currentFolder: here)
  }

  @Test func theReplicaIsFoundUpwards() throws {
    let machine = try folder(with: ".godwit/database", "a/b/x")
    #expect(try locator(here: machine.path("a/b")).existing().folder == machine.replica)
  }

  @Test func theNearestReplicaIsTaken() throws {
    let machine = try folder(with: ".godwit/database", "a/.godwit/keyring", "a/b/x")
    #expect(try locator(here: machine.path("a/b")).existing().folder == machine.path("a/.godwit"))
  }

  @Test func aFolderNamedByOptionIsTheReplicaOrHoldsIt() throws {
    let machine = try folder(with: "plain/database", "work/.godwit/database")
    #expect(try locator(machine.path("plain")).existing().folder == machine.path("plain"))
    #expect(try locator(machine.path("work")).existing().folder == machine.path("work/.godwit"))
    #expect(throws: GodwitError.self) { try locator(machine.folder).existing() }
  }

  @Test func aNewReplicaIsNeverMadeInAFolderAbove() throws {
    let machine = try folder(with: ".godwit/database", "a/x")
    #expect(try locator(here: machine.path("a")).new().folder == machine.path("a/.godwit"))
    #expect(try locator(here: machine.path("a")).new(in: "b").folder == machine.path("a/b/.godwit"))
    #expect(try locator("/srv/c").new(in: "b").folder == "/srv/c/b/.godwit")
    #expect(try locator("/srv/c").new(in: "/d").folder == "/d/.godwit")
  }

  @Test func keysAreNamedByOptionThenEnvironmentThenDefault() throws {
    let variables = ["HOME": "/home/u", "GODWIT_KEYRING": "/env/keyring", "GODWIT_MACHINE_KEY": "/env/key"]
    let options = try locator("/r", environment: variables, keyring: "/o/keyring", machineKey: "/o/key").new()
    let environment = try locator("/r", environment: variables).new()
    let defaults = try locator("/r").new()
    #expect([options.keyring, options.machineKey] == ["/o/keyring", "/o/key"])
    #expect([environment.keyring, environment.machineKey] == ["/env/keyring", "/env/key"])
    #expect([defaults.keyring, defaults.machineKey] == ["/r/.godwit/keyring", "/home/u/.config/godwit/machine.key"])
  }

  @Test func aMachineKeyBesideTheReplicaIsTakenBeforeTheUsers() throws {
    let machine = try folder(with: "app/database", "app/machine.key")
    #expect(try locator(machine.path("app")).existing().machineKey == machine.path("app/machine.key"))
  }

  @Test func theConfigFolderCountsOnlyWhenItIsAbsolute() throws {
    let absolute = try locator("/r", environment: ["HOME": "/home/u", "XDG_CONFIG_HOME": "/cfg"]).new()
    let relative = try locator("/r", environment: ["HOME": "/home/u", "XDG_CONFIG_HOME": "cfg"]).new()
    #expect(absolute.machineKey == "/cfg/godwit/machine.key")
    #expect(relative.machineKey == "/home/u/.config/godwit/machine.key")
  }
}
