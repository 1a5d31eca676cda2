import Foundation
import TestServers
import Testing

@Suite struct SignalTests {
  /// Whether the process is the program yet and has taken over SIGINT (bit 1 of the mask of handled signals).
  private func takesInterrupts(_ process: Process) -> Bool {
    let proc = "/proc/\(process.processIdentifier)"
    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(proc)/exe")
    guard link == Program.path else { return false }
    let status = (try? String(contentsOfFile: "\(proc)/status", encoding: .utf8)) ?? ""
    let mask = status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }?.dropFirst(7)
    return mask.flatMap { UInt64($0.trimmingCharacters(in: .whitespaces), radix: 16) }.map { $0 & 2 != 0 } ?? false
  }

  /// Runs the process with pipes for its input and errors.
  private func start(_ process: Process) throws -> (process: Process, input: Pipe, error: Pipe) {
    let (input, error) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardError = error
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    return (process, input, error)
  }

  @Test func anInterruptedCommandSaysSoAndExitsWith130() async throws {
    let machine = try Machine("interrupt")
    try #require(try machine.godwit("init").status == 0)
    let (process, _, error) = try start(machine.process(["import", "-"]))
    while !takesInterrupts(process), process.isRunning { await Task.yield() }

    process.interrupt()
    let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()

    #expect(process.terminationStatus == 130)
    #expect(process.terminationReason == .exit)
    #expect(text == "interrupted\n")
    #expect(try machine.godwit("verify").status == 0)
  }

  @Test func anInterruptedPutTellsHowManyDocumentsAreStored() async throws {
    let machine = try Machine("interrupt")
    try #require(try machine.godwit("init").status == 0)
    let (process, input, error) = try start(machine.process(["put", "c"]))
    let lines = (0..<1_001).map { "{\"_key\":\"k\($0)\"}\n" }.joined()
    try input.fileHandleForWriting.write(contentsOf: Data(lines.utf8))
    while try machine.godwit("get", "c").lines.count < 1_000, process.isRunning { await Task.yield() }

    process.interrupt()
    let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()

    #expect(process.terminationStatus == 130)
    #expect(text == "1000 documents put into c\ninterrupted\n")
    #expect(try machine.godwit("get", "c").lines.count == 1_000)
  }

  @Test(.enabled(if: RcloneStore.program != nil, "rclone is not there"))
  func anInterruptedSyncLeavesAllWholeAndTheNextOneContinues() async throws {
    let machine = try Machine("interrupt")
    try #require(try machine.godwit("init").status == 0)
    #expect(try machine.godwit("put", "todo", "--as", "1", input: Data("{}".utf8)).status == 0)
    let store = try RcloneStore()
    let proxy = try FaultProxy(to: store.server.port)
    let keys = ["AWS_ACCESS_KEY_ID": "godwit", "AWS_SECRET_ACCESS_KEY": "not-a-secret"]
    let url = "s3://bucket/notes?endpoint=http://127.0.0.1:\(proxy.port)"
    try #require(try machine.godwit("remote", "add", "store", url, environment: keys).status == 0)
    let before = proxy.requests.count
    proxy.plan(.silence, .silence, .silence)
    let (process, _, error) = try start(machine.process(["sync"], environment: keys))
    while proxy.requests.count == before, process.isRunning { await Task.yield() }

    process.interrupt()
    let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()

    #expect(process.terminationStatus == 130 && text == "interrupted\n", "\(text)")
    #expect(try machine.godwit("verify").status == 0)
    proxy.plan()
    let next = try machine.godwit("sync", environment: keys)
    #expect(next.text.contains("1 published"), "\(next.text)\(next.error)")
    withExtendedLifetime(store) {}
  }

  @Test func aRunningStatementIsInterrupted() async throws {
    let machine = try Machine("interrupt")
    try #require(try machine.godwit("init").status == 0)
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    let process = machine.process(["query", endless])
    let error = Pipe()
    process.standardError = error
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    while !takesInterrupts(process), process.isRunning { await Task.yield() }

    process.interrupt()
    let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()

    #expect(process.terminationStatus == 130)
    #expect(text == "interrupted\n")
  }

  @Test func aReaderThatGoesAwayEndsTheProgramSilently() throws {
    let machine = try Machine("pipe")
    try #require(try machine.godwit("init").status == 0)
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT i FROM n"
    let process = machine.process(["query", "--json", numbers])
    let output = Pipe()
    let error = Pipe()
    process.standardOutput = output
    process.standardError = error
    try process.run()
    try output.fileHandleForReading.close()
    let text = error.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()

    #expect(process.terminationReason == .uncaughtSignal)
    #expect(process.terminationStatus == SIGPIPE)
    #expect(text.isEmpty)
  }

  @Test func aFullDiskIsAFailure() throws {
    let machine = try Machine("full")
    try #require(try machine.godwit("init").status == 0)
    let process = machine.process(["query", "SELECT 1"])
    let error = Pipe()
    process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
    process.standardError = error
    try process.run()
    let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 1)
    #expect(text.contains("No space left"))
  }
}
