import Foundation
import TestFolders
import Testing

private let age = "/usr/bin/age"

/// The private keys in an emergency's form.
@Suite struct AgeKeyCommandTests {
  /// `age -d -i identity.txt FILE`, and what it printed.
  private func decrypt(_ file: String, on machine: Machine) throws -> (status: Int32, plain: Data) {
    let plain = try TestFolder.plaintext("container", in: machine.folder)
    let process = machine.process(["-d", "-i", "identity.txt", "-o", plain, file])
    process.executableURL = URL(fileURLWithPath: age)
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return (
      process.terminationStatus, process.terminationStatus == 0 ? try machine.read("plaintext/container") : Data()
    )
  }

  @Test func nothingIsWrittenWhereTheWarningCannotBe() throws {
    let machine = try Machine("desk")
    try #require(try machine.godwit("init").status == 0)
    let shown = try machine.shell("\"$GODWIT\" identity export-age-key identity.txt 2>/dev/full")
    #expect(shown.status == 1)
    let told = try machine.shell("\"$GODWIT\" identity export-age-key identity.txt --json >/dev/full")
    #expect(told.status == 1)
    #expect(!FileManager.default.fileExists(atPath: machine.path("identity.txt")))
  }

  @Test func theFileIsNewWarnedOfAndOpenToThisUserAlone() throws {
    let machine = try Machine("desk")
    try #require(try machine.godwit("init").status == 0)
    let recipient = try #require(try machine.godwit("identity", "--json").objects().first?["ageRecipient"] as? String)
    let written = try machine.godwit("identity", "export-age-key", "identity.txt", "--quiet")
    #expect(written.status == 0 && written.output.isEmpty)
    #expect(written.error.contains("warning: identity.txt will not be encrypted"))
    let text = String(decoding: try machine.read("identity.txt"), as: UTF8.self)
    #expect(text.hasPrefix("# public key: \(recipient)\nAGE-SECRET-KEY-1"))
    #expect(!written.error.contains("AGE-SECRET-KEY-1"))
    let mode = try FileManager.default.attributesOfItem(atPath: machine.path("identity.txt"))[.posixPermissions]
    #expect(mode as? Int == 0o600)

    #expect(try machine.godwit("identity", "export-age-key", "identity.txt").status == 1)
    #expect(try machine.godwit("identity", "export-age-key", ".godwit/identity.txt").status == 1)
    #expect(try machine.godwit("identity", "export-age-key", "-").status == 64)
    #expect(String(decoding: try machine.read("identity.txt"), as: UTF8.self) == text)

    try #require(try machine.godwit("identity", "rotate").status == 0)
    let again = try machine.godwit("identity", "export-age-key", "both.txt", "--json")
    let json = try #require(try again.objects().first)
    #expect(Set(json.keys) == ["file", "keys", "ageRecipient", "postQuantum", "encrypted"])
    #expect(json["keys"] as? Int == 2 && json["encrypted"] as? Bool == false)
    let former = try #require(text.split(separator: "\n").last)
    #expect(String(decoding: try machine.read("both.txt"), as: UTF8.self).hasSuffix("\(recipient)\n\(former)\n"))
    #expect(try machine.godwit("-C", "elsewhere", "identity", "export-age-key", "none.txt").status == 10)
  }

  @Test func postQuantumKeysAreSaidToBeTooNewForDebiansAge() throws {
    let machine = try Machine("desk")
    try #require(try machine.godwit("init", "--post-quantum").status == 0)
    let written = try machine.godwit("identity", "export-age-key", "identity.txt")
    #expect(written.status == 0 && written.error.contains("Debian's age 1.1.1 does not"))
    #expect(String(decoding: try machine.read("identity.txt"), as: UTF8.self).contains("\nAGE-SECRET-KEY-PQ-1"))
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: age), "age is not installed"))
  func ageOpensASyncFileWithIt() async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try desk.godwit("export", "changes.sync").status == 0)
    try laptop.write(try desk.read("changes.sync"), to: "changes.sync")
    try #require(try laptop.godwit("identity", "export-age-key", "identity.txt").status == 0)
    #expect(try decrypt("changes.sync", on: laptop).plain.starts(with: Data("GODWIT\0\u{5}".utf8)))

    // What was sealed to a key that was replaced still opens; a stranger's does not.
    try FileManager.default.removeItem(atPath: laptop.path("identity.txt"))
    try #require(try laptop.godwit("identity", "rotate").status == 0)
    try #require(try laptop.godwit("identity", "export-age-key", "identity.txt").status == 0)
    #expect(try decrypt("changes.sync", on: laptop).plain.starts(with: Data("GODWIT\0\u{5}".utf8)))
    let stranger = try Machine("stranger")
    try #require(try stranger.godwit("init").status == 0)
    try #require(try stranger.godwit("identity", "export-age-key", "identity.txt").status == 0)
    try stranger.write(try desk.read("changes.sync"), to: "changes.sync")
    #expect(try decrypt("changes.sync", on: stranger).status != 0)
  }
}
