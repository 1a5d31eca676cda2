import Foundation
import TestServers
import Testing

/// Two Syncthings of Debian's that keep one folder alike, each with its own copy, over loopback.
private final class SyncthingPair {
  static let program = "/usr/bin/syncthing"
  static var isHere: Bool { FileManager.default.isExecutableFile(atPath: program) }

  private let machines: [Machine]
  private let devices: [String]
  private let ports: [Int]
  private var servers: [LocalServer?] = [nil, nil]

  init(_ machines: [Machine]) throws {
    self.machines = machines
    ports = try machines.map { _ in try LocalServer.freePort() }
    devices = try machines.map { machine in
      for folder in ["stick", "stick/.stfolder"] {
        try FileManager.default.createDirectory(atPath: machine.path(folder), withIntermediateDirectories: true)
      }
      let home = "--home=\(machine.path("syncthing"))"
      let made = try machine.shell("\(Self.program) generate \(home) --no-default-folder --skip-port-probing >&2")
      try #require(made.status == 0, "\(made.error)")
      return try #require(try machine.shell("\(Self.program) \(home) --device-id").lines.first)
    }
    for index in machines.indices {
      try machines[index].write(Data(configuration(index).utf8), to: "syncthing/config.xml")
      try start(index)
    }
  }

  func start(_ index: Int) throws {
    let home = machines[index].path("syncthing")
    servers[index] = try LocalServer(
      Self.program, { ["serve", "--home=\(home)", "--no-browser", "--gui-address=http://127.0.0.1:\($0)"] },
      // Without this a second process would stay behind when the first is killed.
      environment: ["STMONITORED": "yes", "HOME": machines[index].folder])
  }

  func stop(_ index: Int) { servers[index] = nil }

  /// Both folders' devices; nothing that asks anybody outside of this machine.
  private func configuration(_ index: Int) -> String {
    let known = zip(devices, ports).map { device, port in
      "<device id=\"\(device)\" name=\"\(port)\"><address>tcp://127.0.0.1:\(port)</address></device>"
    }
    let off = [
      "globalAnnounceEnabled", "localAnnounceEnabled", "relaysEnabled", "natEnabled", "startBrowser",
      "crashReportingEnabled",
    ].map { "<\($0)>false</\($0)>" }
    return """
      <configuration version="36">
      <folder id="notes" path="\(machines[index].path("stick"))" rescanIntervalS="3600" fsWatcherEnabled="true"
        fsWatcherDelayS="1">\(devices.map { "<device id=\"\($0)\"/>" }.joined())</folder>
      \(known.joined())
      <gui enabled="true"><address>127.0.0.1:0</address></gui>
      <options><listenAddress>tcp://127.0.0.1:\(ports[index])</listenAddress><urAccepted>-1</urAccepted>
        <autoUpgradeIntervalH>0</autoUpgradeIntervalH><reconnectionIntervalS>1</reconnectionIntervalS>
        <stunKeepaliveStartS>0</stunKeepaliveStartS>\(off.joined())</options>
      </configuration>
      """
  }
}

/// A folder that a synchronizer copies, as a remote.
@Suite struct SyncthingTests {
  private func put(_ key: String, _ text: String, _ machine: Machine) throws {
    let outcome = try machine.godwit("put", "todo", "--as", key, input: Data("{\"text\":\"\(text)\"}".utf8))
    try #require(outcome.status == 0, "\(outcome.error)")
  }

  /// Syncs by turns until both hold the same, so many documents. Nothing may be refused or found on the way.
  private func converge(_ machines: [Machine], _ count: Int) throws {
    let end = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < end {
      for machine in machines {
        let outcome = try machine.godwit("sync")
        try #require(outcome.status == 0 && outcome.error.isEmpty, "\(machine.name): \(outcome.error)")
      }
      if try machines[0].digest() == machines[1].digest(), try machines[0].godwit("get", "todo").lines.count == count {
        return
      }
      usleep(200_000)
    }
    Issue.record("no convergence: \(try machines.map { try $0.godwit("get", "todo").text })")
  }

  @Test(.enabled(if: SyncthingPair.isHere, "there is no syncthing: Debian has it in a package of that name"))
  func aFolderUnderSyncthingBringsBothWhatTheyLack() async throws {
    let (desk, laptop) = try await Machine.pair()
    let machines = [desk, laptop]
    let pair = try SyncthingPair(machines)
    // Either may be the first there: both write the same marker.
    for machine in machines {
      try put(machine.name, "first", machine)
      try #require(try machine.godwit("remote", "add", "stick", machine.path("stick")).status == 0)
    }
    try converge(machines, 2)
    for machine in machines { try put("both", machine.name, machine) }
    try converge(machines, 3)

    // While one is away both go their own ways, and each replaces its mailbox more than once.
    pair.stop(1)
    for number in 0..<3 {
      for machine in machines {
        try put("\(machine.name)-\(number)", "apart", machine)
        #expect(try machine.godwit("sync").status == 0)
      }
    }
    #expect(try desk.digest() != laptop.digest())
    try pair.start(1)
    try converge(machines, 9)
    for machine in machines {
      #expect(try machine.godwit("verify").status == 0)
      let names = try FileManager.default.subpathsOfDirectory(atPath: machine.path("stick"))
      #expect(names.filter { $0.contains("sync-conflict") } == [])
    }
  }
}
