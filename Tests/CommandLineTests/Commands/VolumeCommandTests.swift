import Foundation
import Godwit
import Testing

/// `--volume-size`, and files that are volumes.
@Suite struct VolumeCommandTests {
  private func machines() async throws -> (desk: Machine, laptop: Machine, volumes: [String]) {
    let (desk, laptop) = try await Machine.pair()
    try await desk.write { transaction in
      var generator = SystemRandomNumberGenerator()
      for number in 0..<100 {
        let title = (0..<20).map { _ in String(generator.next(), radix: 36) }.joined()
        try transaction.insert(Note(title: title, views: number))
      }
    }
    let outcome = try desk.godwit("export", "--volume-size", "8K", "changes.sync", "--json")
    try #require(outcome.status == 0, "\(outcome.error)")
    let volumes = try #require(try outcome.objects().first?["volumes"] as? [String])
    try #require(volumes.count >= 3)
    return (desk, laptop, volumes.map { desk.path($0) })
  }

  @Test func volumesAreAppliedAsOneFileInAnyOrder() async throws {
    let (desk, laptop, volumes) = try await machines()
    let outcome = try laptop.run(["import", "--json"] + volumes.reversed())
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.lines.count == 1)
    #expect(try outcome.objects().first?["applied"] as? Int == 2)
    #expect(try laptop.digest() == desk.digest())
  }

  @Test func aMissingVolumeIsNamedAndNothingIsApplied() async throws {
    let (desk, laptop, volumes) = try await machines()
    defer { withExtendedLifetime(desk) {} }
    for given in [volumes.dropFirst(), volumes.dropLast(), volumes[1...1]] {
      let outcome = try laptop.run(["import"] + given)
      #expect(outcome.status == 1 && outcome.output.isEmpty)
      for missing in volumes where !given.contains(missing) { #expect(outcome.error.contains(missing)) }
      #expect(outcome.error.contains("godwit: hint: "))
    }
    #expect(try laptop.godwit("log", "--json").output.isEmpty)
  }

  @Test func theyAreInspectedAndVerifiedTogetherToo() async throws {
    let (desk, laptop, volumes) = try await machines()
    defer { withExtendedLifetime(desk) {} }
    #expect(try laptop.run(["inspect"] + volumes).text.contains("verified"))
    #expect(try laptop.run(["verify"] + volumes).text.contains("sound, 2 transactions"))
    let alone = try laptop.run(["inspect", volumes[0]])
    #expect(alone.status == 1 && alone.error.contains(volumes[1]))
    #expect(alone.text.contains("volume 1 of \(volumes.count) of set "))
    let told = try laptop.run(["inspect", "--json", volumes[2], volumes[0]]).objects()
    #expect(told.count == 2 && Set(told.compactMap { $0["set"] as? String }).count == 1)
    #expect(told.first.map { Set($0.keys) } == ["file", "set", "number", "count", "bytes", "sealedBytes"])
    #expect(told.compactMap { $0["number"] as? Int } == [3, 1])
  }

  @Test(arguments: ["0", "x", "12T", "-5", "1.5M", "99999999999G"])
  func aSizeThatIsNoneIsAUsageError(size: String) async throws {
    let desk = try Machine("desk")
    try #require(try desk.godwit("init").status == 0)
    #expect(try desk.godwit("export", "--volume-size=\(size)", "changes.sync").status == 64)
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

  @Test func volumesAreNoStandardOutputOrInput() async throws {
    let (desk, laptop, volumes) = try await machines()
    #expect(try desk.godwit("export", "--volume-size", "8K", "-").status == 1)
    let outcome = try laptop.godwit("import", "-", input: Data(contentsOf: URL(fileURLWithPath: volumes[0])))
    #expect(outcome.status == 1 && outcome.error.contains("volumes"))
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
