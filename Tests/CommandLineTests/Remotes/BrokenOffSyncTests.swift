import Foundation
import TestServers
import Testing

/// Syncs with a store that are killed or interrupted, at a request or in the midst of one (Specs/remotes.md, "Faults").
@Suite("Syncs, broken off", .enabled(if: RcloneStore.program != nil, "rclone is not there"))
struct BrokenOffSyncTests {
  private static let keys = ["AWS_ACCESS_KEY_ID": "godwit", "AWS_SECRET_ACCESS_KEY": "not-a-secret"]
  private let (desk, laptop): (Machine, Machine)
  private let store: RcloneStore
  private let proxy: FaultProxy

  init() async throws {
    (desk, laptop) = try await Machine.pair()
    store = try RcloneStore()
    proxy = try FaultProxy(to: store.server.port)
    let url = "s3://bucket/notes?endpoint=http://127.0.0.1:\(proxy.port)"
    for machine in [desk, laptop] {
      try #require(try machine.godwit("remote", "add", "store", url, environment: Self.keys).status == 0)
    }
  }

  private func put(_ key: String, _ text: String = "") throws {
    let document = Data("{\"text\": \"\(text)\"}".utf8)
    try #require(try desk.godwit("put", "todo", "--as", key, input: document).status == 0)
  }

  /// Starts a sync, and returns once the store has been asked for so much, or the sync has ended.
  private func sync(_ options: [String] = [], untilRequest count: Int) throws -> (process: Process, error: Pipe) {
    let process = desk.process(["sync"] + options, environment: Self.keys)
    let error = Pipe()
    process.standardError = error
    process.standardOutput = FileHandle.nullDevice
    let before = proxy.requests.count
    try process.run()
    while proxy.requests.count < before + count, process.isRunning { usleep(200) }
    return (process, error)
  }

  /// The next sync of each is whole, and the other machine gets all that was written.
  private func expectWhole(_ count: Int) throws {
    #expect(try desk.godwit("verify").status == 0)
    for machine in [desk, laptop] {
      let outcome = try machine.godwit("sync", environment: Self.keys)
      #expect(outcome.status == 0, "\(outcome.error)")
    }
    #expect(try laptop.godwit("get", "todo").lines.count == count)
    #expect(try laptop.digest() == desk.digest())
  }

  @Test("killed at each of its requests")
  func killed() throws {
    var killed = 0
    for count in 1...8 {
      try put("\(count)")
      // Some requests are done, and nobody knows of it.
      if count % 2 == 0 { proxy.plan(.loseAnswer) }
      let (process, _) = try sync(untilRequest: 1 + count / 2)
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      if process.terminationReason == .uncaughtSignal { killed += 1 }
      #expect(try desk.godwit("verify").status == 0)
    }
    #expect(killed > 3)
    proxy.plan()
    try expectWhole(8)
  }

  @Test("interrupted in the midst of a slow file: nothing of it is shown, and the next sync continues")
  func slow() throws {
    var random = SystemRandomNumberGenerator()
    let text = (0..<60_000).map { _ in String(UInt64.random(in: 0 ... .max, using: &random), radix: 36) }.joined()
    try put("large", text)
    let (process, error) = try sync(["--limit-rate", "50k"], untilRequest: 2)
    usleep(700_000)
    #expect(process.isRunning)
    let start = ContinuousClock.now
    process.interrupt()
    let output = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 130 && output.hasSuffix("interrupted\n"), "\(output)")
    #expect(.now - start < .seconds(10))
    #expect(try laptop.godwit("sync", environment: Self.keys).status == 0)
    #expect(try laptop.godwit("get", "todo").lines.isEmpty)
    try expectWhole(1)
  }
}
