import Foundation
import Godwit
import GodwitBase
import TestFolders
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

/// The way out in an emergency: Debian's age program and a replica's private key.
@Suite(
  "The age program and sync files", .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/age")))
struct AgeProgramSyncFileTests {
  private let group: TestGroup
  private let identity: Identity
  private let key: String

  init() async throws {
    group = try await TestGroup(2)
    try await group[0].write { try $0.insert(Note(title: "small", body: String(repeating: "x", count: 9_000))) }
    identity = try Forgery.keys(of: group[1]).identity
    key = group.folder.file("identity.txt")
    try Data(identity.ageIdentity.exportSecretText().utf8).write(to: URL(fileURLWithPath: key))
  }

  /// The exit status of a shell's command line.
  private func shell(_ line: String, _ arguments: String...) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", line, "sh"] + arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  @Test("it opens one, and what is inside is the container")
  func opens() async throws {
    let file = group.folder.file("changes")
    _ = try await group[0].export(to: .file(file))
    let plain = try TestFolder.plaintext("container", in: group.folder.path)
    #expect(try shell("age -d -i \"$1\" \"$2\" > \"$3\"", key, file, plain) == 0)
    let found = try Forgery.bytes(plain)
    #expect(found == (try Forgery.container(Forgery.bytes(file), identity)))
    #expect(found.starts(with: Array("GODWIT\0\u{5}".utf8)))
  }
}
