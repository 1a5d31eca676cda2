import Foundation
import Godwit
import Testing

/// `--max-size`.
@Suite struct MaxSizeCommandTests {
  private func machines() async throws -> (desk: Machine, laptop: Machine, files: [String]) {
    let (desk, laptop) = try await Machine.pair()
    for number in 0..<110 {
      try await desk.write { transaction in
        var generator = SystemRandomNumberGenerator()
        let title = (0..<50).map { _ in String(generator.next(), radix: 36) }.joined()
        try transaction.insert(Note(title: title, views: number))
      }
    }
    let outcome = try desk.godwit("export", "--all", "--max-size", "16K", "changes.sync", "--json")
    try #require(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.error.isEmpty, "\(outcome.error)")
    let told = try #require(try outcome.objects().first?["files"] as? [[String: Any]])
    let files = told.compactMap { $0["file"] as? String }
    try #require(files.count >= 3)
    #expect(files == (1...files.count).map { "changes-00\($0).sync" })
    #expect(told.allSatisfy { Set($0.keys) == ["file", "transactions", "bytes", "exceedsLimit"] })
    return (desk, laptop, files.map { desk.path($0) })
  }

  @Test func eachIsImportedByItselfInAnyOrder() async throws {
    let (desk, laptop, files) = try await machines()
    for file in files { #expect(try Data(contentsOf: URL(fileURLWithPath: file)).count <= 16_384) }
    let outcome = try laptop.run(["import", "--json"] + files.reversed())
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.lines.count == files.count)
    #expect(try outcome.objects().last?["waiting"] as? Int == 0)
    #expect(try laptop.digest() == desk.digest())
  }

  @Test func oneThatIsMissingIsNamedAndTheOthersWait() async throws {
    let (desk, laptop, files) = try await machines()
    let first = try laptop.run(["import"] + files.filter { $0 != files[1] })
    #expect(first.status == 0 && first.text.contains("missing: "), "\(first.text)")
    #expect(try laptop.run(["import", files[1]]).status == 0)
    #expect(try laptop.digest() == desk.digest())
  }

  @Test func eachIsInspectedAndVerifiedByItself() async throws {
    let (desk, laptop, files) = try await machines()
    defer { withExtendedLifetime(desk) {} }
    for file in files {
      #expect(try laptop.run(["inspect", file]).text.contains("verified"))
      #expect(try laptop.run(["verify", file]).text.contains("sound, "))
    }
  }

  @Test func whatCannotBeCutIsWarnedOf() async throws {
    let (desk, _, files) = try await machines()
    try await desk.write { try $0.insert(Note(title: (0..<9_000).map { "\($0 &* 2_654_435_761)" }.joined())) }
    let outcome = try desk.godwit("export", "--all", "--max-size", "16K", "changes.sync", "--quiet")
    #expect(outcome.status == 0)
    #expect(outcome.error.contains("warning: changes-00") && outcome.error.contains("single transaction"))
    let state = try desk.godwit("export", "--state", "--max-size", "16K", "changes.sync")
    #expect(state.status == 0)
    #expect(state.error.contains("warning: changes.sync has ") && state.error.contains("a whole state is one file"))
    // Those of the export before stay, and are named.
    #expect(state.error.contains("not of this export, and left as they are: changes-001.sync"), "\(state.error)")
    #expect(FileManager.default.fileExists(atPath: files[0]))
  }

  @Test(arguments: ["0", "x", "12T", "-5", "1.5M", "99999999999G"])
  func aSizeThatIsNoneIsAUsageError(size: String) async throws {
    let desk = try Machine("desk")
    try #require(try desk.godwit("init").status == 0)
    #expect(try desk.godwit("export", "--max-size=\(size)", "changes.sync").status == 64)
  }

  @Test func aSizeThatIsTooSmallIsRefusedWithAHint() async throws {
    let desk = try Machine("desk")
    try #require(try desk.godwit("init").status == 0)
    let outcome = try desk.godwit("export", "--max-size=4K", "changes.sync")
    #expect(outcome.status == 1 && outcome.error.contains("godwit: hint: give a size of 16K or more"))
  }

  @Test func aPipeThatHasAPathIsReadOnce() async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try desk.godwit("export", "changes.sync").status == 0)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = [
      "-c", "exec \"$0\" import <(cat \"$1\")", Program.path, desk.path("changes.sync"),
    ]
    let pattern = laptop.process([])
    process.currentDirectoryURL = pattern.currentDirectoryURL
    process.environment = pattern.environment
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(try laptop.digest() == desk.digest())
  }

  @Test func theStandardOutputIsOneFile() async throws {
    let desk = try Machine("desk")
    try #require(try desk.godwit("init").status == 0)
    let outcome = try desk.godwit("export", "--max-size", "16K", "-")
    #expect(outcome.status == 1 && outcome.output.isEmpty && outcome.error.contains("godwit: hint: "))
  }
}

/// `--post-quantum`.
@Suite struct PostQuantumCommandTests {
  @Test func aPostQuantumGroupTakesItsKindAlone() async throws {
    let desk = try Machine("desk")
    let laptop = try Machine("laptop")
    let phone = try Machine("phone")
    try #require(try desk.godwit("init", "--name", "desk", "--post-quantum").status == 0)
    try laptop.write(Data(try laptop.godwit("identity", "--post-quantum").output), to: "identity")
    try phone.write(Data(try phone.godwit("identity").output), to: "identity")
    let refused = try desk.add(phone.path("identity"), phone)
    #expect(refused.status == 1 && refused.error.contains("godwit identity --post-quantum"))
    #expect(try phone.godwit("identity", "--post-quantum").status == 1)
    try desk.add(laptop.path("identity"), laptop)
    try #require(try laptop.join(desk).status == 0)
    try await desk.write { try $0.insert(Note(title: "a")) }
    let outcome = try desk.pipe(["export", "-"], to: laptop, ["import", "-"])
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(try laptop.digest() == desk.digest())
    try #require(try desk.godwit("export", "--all", "changes.sync").status == 0)
    #expect(try laptop.godwit("inspect", desk.path("changes.sync")).text.contains("2 × mlkem768x25519"))
  }
}
