import Foundation
import Testing

/// `godwit sync --limit-rate`.
@Suite struct LimitRateTests {
  private func machine() throws -> (machine: Machine, stick: String) {
    let machine = try Machine("desk")
    try #require(try machine.godwit("init").status == 0)
    let stick = machine.path("stick")
    try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
    try #require(try machine.godwit("remote", "add", "stick", stick).status == 0)
    return (machine, stick)
  }

  @Test(arguments: ["0", "x", "fast", "-5", "1.5M", "12T", "500k/s", "99999999999G", ""])
  func aRateThatIsNoneIsAUsageErrorThatNamesTheOption(rate: String) throws {
    let (machine, stick) = try machine()
    let outcome = try machine.godwit("sync", "--limit-rate=\(rate)")
    #expect(outcome.status == 64 && outcome.error.contains("--limit-rate"), "\(outcome.error)")
    #expect(outcome.error.contains("godwit: hint: see: godwit sync --help"), "\(outcome.error)")
    #expect(!FileManager.default.fileExists(atPath: "\(stick)/m"))
  }

  @Test func aRateThatIsTooLowIsRefusedWithAHint() throws {
    let (machine, stick) = try machine()
    let outcome = try machine.godwit("sync", "--limit-rate", "999")
    #expect(outcome.status == 64 && outcome.error.contains("--limit-rate is 1000 or more"), "\(outcome.error)")
    #expect(!FileManager.default.fileExists(atPath: "\(stick)/m"))
    #expect(try machine.godwit("sync", "--limit-rate", "1M").status == 0)
  }

  /// How often a sync with a replica on another host waits, as strace(1) sees it.
  private func waits(_ laptop: Machine, _ options: [String], ssh: String) throws -> Int {
    let process = laptop.process(
      ["-f", "-o", "log", "-e", "trace=clock_nanosleep", Program.path, "sync"] + options,
      environment: ["GODWIT_SSH": ssh])
    process.executableURL = URL(fileURLWithPath: SystemCalls.program)
    let outcome = try Machine.finish([process], input: Data(), in: laptop)
    try #require(outcome.status == 0, "\(outcome.error)")
    return String(decoding: try laptop.read("log"), as: UTF8.self).split(separator: "\n")
      .count { $0.contains("clock_nanosleep(") }
  }

  @Test(.seesSystemCalls) func aTalkBySSHWaitsToo() async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try laptop.godwit("remote", "add", "desk", "ssh://desk\(desk.folder)").status == 0)
    let programs = (Program.path as NSString).deletingLastPathComponent
    let script = """
      #!/bin/sh
      for word; do last=$word; done
      export XDG_CONFIG_HOME='\(desk.path("config"))' PATH='\(programs)':$PATH
      exec sh -c "$last"
      """
    try laptop.write(Data(script.utf8), to: "fake-ssh")
    chmod(laptop.path("fake-ssh"), 0o700)
    let unlimited = try waits(laptop, [], ssh: laptop.path("fake-ssh"))
    // Some 5 kB, of which each takes a second in waits of at most 20 ms.
    let limited = try waits(laptop, ["--limit-rate", "1000"], ssh: laptop.path("fake-ssh"))
    #expect(limited >= 100 && unlimited < limited / 4, "\(limited), \(unlimited)")
    #expect(try laptop.digest() == desk.digest())
  }
}
