import Foundation
import TestServers
import Testing

/// Three hosts as network namespaces of this machine: a store, and two others with a line to it each.
private final class Network {
  private static let ip = "/usr/sbin/ip"
  static let names = ["store", "desk", "laptop"]

  /// Whether this user may make namespaces.
  static let isPermitted = RcloneStore.program != nil && can("true")
  /// Whether the kernel can delay and lose what is sent.
  static let hasNetem = isPermitted && can("tc qdisc add dev lo root netem delay 1ms loss 1%")

  private static func can(_ command: String) -> Bool {
    let name = "godwit-\(getpid())-probe"
    defer { _ = try? run(["netns", "del", name]) }
    guard FileManager.default.isExecutableFile(atPath: ip), let made = try? run(["netns", "add", name]), made.isGood
    else { return false }
    return (try? run(["netns", "exec", name] + command.split(separator: " ").map(String.init)).isGood) ?? false
  }

  @discardableResult
  private static func run(_ arguments: [String]) throws -> (isGood: Bool, text: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: ip)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus == 0, text)
  }

  private let prefix = "godwit-\(UUID().uuidString.prefix(8))-"
  private let store = Process()
  private let workspace: Workspace
  private static let port = 8_080

  /// - Parameter condition: What netem is to do to all lines; nil for nothing.
  init(_ condition: String?) throws {
    workspace = try Workspace()
    try FileManager.default.createDirectory(atPath: "\(workspace.path)/bucket", withIntermediateDirectories: true)
    for name in Self.names { try #require(try Self.run(["netns", "add", prefix + name]).isGood) }
    for (number, name) in [(1, "desk"), (2, "laptop")] {
      try on("store", "ip link add \(name) type veth peer name line netns \(prefix)\(name)")
      for (host, device, end) in [("store", name, 1), (name, "line", 2)] {
        try on(host, "ip address add 10.77.\(number).\(end)/24 dev \(device)")
        try on(host, "ip link set \(device) up")
        if let condition { try on(host, "tc qdisc add dev \(device) root netem \(condition)") }
      }
    }
    store.executableURL = URL(fileURLWithPath: Self.ip)
    store.arguments =
      ["netns", "exec", prefix + "store", RcloneStore.program ?? "", "serve", "s3", "--config", "/dev/null"]
      + ["--auth-key", "godwit,not-a-secret", "--addr", "0.0.0.0:\(Self.port)", workspace.path]
    store.standardError = FileHandle.nullDevice
    try store.run()
    let listening = ":\(String(Self.port, radix: 16, uppercase: true)) "
    while store.isRunning, try !on("store", "cat /proc/net/tcp /proc/net/tcp6").contains(listening) { usleep(50_000) }
  }

  deinit {
    if store.isRunning {
      kill(store.processIdentifier, SIGKILL)
      store.waitUntilExit()
    }
    for name in Self.names { _ = try? Self.run(["netns", "del", prefix + name]) }
  }

  /// Runs a command there and gives what it printed.
  @discardableResult
  func on(_ host: String, _ command: String) throws -> String {
    let (isGood, text) = try Self.run(
      ["netns", "exec", prefix + host] + command.split(separator: " ").map(String.init))
    try #require(isGood, "\(host): \(command)")
    return text
  }

  /// The program as on that host, not started yet.
  func godwit(_ machine: Machine, _ arguments: String...) -> Process {
    let process = machine.process(
      ["netns", "exec", prefix + machine.name, Program.path] + arguments,
      environment: ["AWS_ACCESS_KEY_ID": "godwit", "AWS_SECRET_ACCESS_KEY": "not-a-secret"])
    process.executableURL = URL(fileURLWithPath: Self.ip)
    return process
  }

  func url(_ machine: Machine) -> String {
    "s3://bucket/notes?endpoint=http://10.77.\(machine.name == "desk" ? 1 : 2).1:\(Self.port)"
  }

  /// Takes a line away, or puts it back.
  func setLine(_ machine: Machine, isUp: Bool) throws {
    try on("store", "ip link set \(machine.name) \(isUp ? "up" : "down")")
  }

  /// How much has come to the store over a line, in bytes.
  func received(from machine: Machine) throws -> Int {
    let text = try on("store", "cat /proc/net/dev")
    let line = text.split(separator: "\n").first { $0.drop { $0 == " " }.hasPrefix("\(machine.name):") }
    return line.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
  }
}

/// Hosts of their own, lines between them, and what becomes of both.
@Suite struct NetworkTests {
  private func put(_ key: String, _ machine: Machine, size: Int = 10) throws {
    let text = (0..<size / 10).map { _ in String(UInt64.random(in: 1 << 50..<1 << 51), radix: 36) }.joined()
    let outcome = try machine.godwit("put", "todo", "--as", key, input: Data("{\"text\":\"\(text)\"}".utf8))
    try #require(outcome.status == 0, "\(outcome.error)")
  }

  private func sync(_ network: Network, _ machine: Machine) throws -> Outcome {
    try Machine.finish([network.godwit(machine, "sync")], input: Data(), in: machine)
  }

  /// Syncs by turns until both hold the same, so many documents.
  private func converge(_ network: Network, _ machines: [Machine], _ count: Int) throws {
    for _ in 0..<4 {
      for machine in machines {
        let outcome = try sync(network, machine)
        #expect(outcome.status == 0, "\(machine.name): \(outcome.error)")
      }
      if try machines[0].digest() == machines[1].digest() { break }
    }
    #expect(try machines[0].digest() == machines[1].digest())
    for machine in machines { #expect(try machine.godwit("get", "todo").lines.count == count) }
  }

  private func overcomesPartitions(_ condition: String?) async throws {
    let (desk, laptop) = try await Machine.pair()
    let machines = [desk, laptop]
    let network = try Network(condition)
    for machine in machines {
      let added = try Machine.finish(
        [network.godwit(machine, "remote", "add", "store", network.url(machine))], input: Data(), in: machine)
      try #require(added.status == 0, "\(added.error)")
      try put(machine.name, machine)
    }
    try converge(network, machines, 2)

    // A line that is away: who is behind it works on, and the other syncs. A connection is waited for for 30 s.
    try network.setLine(laptop, isUp: false)
    for machine in machines { try put("\(machine.name)-apart", machine) }
    let away = try sync(network, laptop)
    #expect(away.status == 16, "\(away.error)")
    #expect(try sync(network, desk).status == 0)
    #expect(try desk.digest() != laptop.digest())
    try network.setLine(laptop, isUp: true)
    try converge(network, machines, 4)

    // A line that is away for a moment in the middle of a file: the same sync brings it to its end.
    try put("large", laptop, size: 400_000)
    let before = try network.received(from: laptop)
    let process = network.godwit(laptop, "sync", "--limit-rate", "40k")
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    while process.isRunning, try network.received(from: laptop) < before + 60_000 { usleep(20_000) }
    try #require(process.isRunning)
    try network.setLine(laptop, isUp: false)
    usleep(500_000)
    #expect(process.isRunning)
    try network.setLine(laptop, isUp: true)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    try converge(network, machines, 5)
    for machine in machines { #expect(try machine.godwit("verify").status == 0) }
  }

  @Test(.enabled(if: Network.isPermitted, "network namespaces are not permitted here, or rclone is not there"))
  func replicasConvergeOnceAPartitionHeals() async throws { try await overcomesPartitions(nil) }

  @Test(.enabled(if: Network.hasNetem, "network namespaces are not permitted here, or the kernel has no netem"))
  func replicasConvergeOverALineThatDelaysAndLoses() async throws {
    try await overcomesPartitions("delay 40ms 10ms loss 3%")
  }
}
