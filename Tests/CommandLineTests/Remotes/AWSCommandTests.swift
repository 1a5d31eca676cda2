import Foundation
import TestFolders
import TestServers
import Testing

/// What Godwit put into a store is within reach of programs by other people, without Godwit.
@Suite struct AWSCommandTests {
  private static let age = "/usr/bin/age"
  private static var isHere: Bool {
    RcloneStore.program != nil && AWSCommand.program != nil && FileManager.default.isExecutableFile(atPath: age)
  }

  private let keys = ["AWS_ACCESS_KEY_ID": "godwit", "AWS_SECRET_ACCESS_KEY": "not-a-secret"]

  private func run(_ program: String, _ arguments: [String], on machine: Machine) throws -> Outcome {
    let region = ["AWS_DEFAULT_REGION": "us-east-1"]
    let process = machine.process(arguments, environment: keys.merging(region) { $1 })
    process.executableURL = URL(fileURLWithPath: program)
    return try Machine.finish([process], input: Data(), in: machine)
  }

  @Test(.enabled(if: isHere, "rclone, aws (GODWIT_AWS) or age is not there"))
  func awsFetchesALogFileAndAgeOpensItWithAnExportedKey() async throws {
    let (desk, laptop) = try await Machine.pair()
    let store = try RcloneStore()
    let endpoint = "http://127.0.0.1:\(store.server.port)"
    for machine in [laptop, desk] {
      let url = "s3://bucket/notes?endpoint=\(endpoint)"
      try #require(try machine.godwit("remote", "add", "store", url, environment: keys).status == 0)
    }
    try #require(try laptop.godwit("sync", environment: keys).status == 0)
    let collected = try desk.godwit("sync", "--collect", environment: keys)
    try #require(collected.status == 0 && collected.text.contains(" logged "), "\(collected.text)\(collected.error)")

    let aws = try #require(AWSCommand.program)
    let listed = try run(aws, ["--endpoint-url", endpoint, "s3", "ls", "s3://bucket/notes/l/"], on: laptop)
    try #require(listed.status == 0 && listed.lines.count == 1, "\(listed.text)\(listed.error)")
    let name = try #require(listed.lines[0].split(separator: " ").last)
    let copied = try run(
      aws, ["--endpoint-url", endpoint, "s3", "cp", "s3://bucket/notes/l/\(name)", "fetched"], on: laptop)
    try #require(copied.status == 0, "\(copied.error)")
    let there = try Data(contentsOf: URL(fileURLWithPath: "\(store.folder.path)/bucket/notes/l/\(name)"))
    #expect(try laptop.read("fetched") == there)

    try #require(try laptop.godwit("identity", "export-age-key", "identity.txt").status == 0)
    let plain = try TestFolder.plaintext("log", in: laptop.folder)
    let opened = try run(Self.age, ["-d", "-i", "identity.txt", "-o", plain, "fetched"], on: laptop)
    try #require(opened.status == 0, "\(opened.error)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: plain)).starts(with: Data("GODWIT\0\u{5}".utf8)))
    // What aws fetched is a sync file as any.
    let imported = try laptop.godwit("import", "fetched", "--json")
    #expect(imported.status == 0, "\(imported.error)")
    #expect(try laptop.digest() == desk.digest())
  }
}
