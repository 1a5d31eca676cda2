import Foundation
import GodwitBase
import TestAge
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("pyrage", .enabled(if: AgePeers.pyrage != nil, "no Python with pyrage: set GODWIT_PYRAGE_PYTHON"))
struct AgePyrageTests {
  /// Runs Python with two arguments, from a file to a file.
  private func python(_ script: String, _ argument: String, _ input: String, _ output: String) throws -> Int32 {
    try Programs.run(
      try #require(AgePeers.pyrage), ["-c", "import sys, pyrage\n" + script, argument], input: input, output: output)
  }

  @Test("pyrage opens what is sealed here, and what it seals is opened here", arguments: [0, 42, 65_536, 200_000])
  func keys(count: Int) throws {
    let folder = try TemporaryFolder()
    let identity = try newAgeIdentity()
    let plain = randomBytes(count)
    try writeFile(folder.path("sealed"), try seal(plain, to: [identity.recipient]))
    let opens = """
      identity = pyrage.x25519.Identity.from_str(sys.argv[1])
      sys.stdout.buffer.write(pyrage.decrypt(sys.stdin.buffer.read(), [identity]))
      """
    #expect(try python(opens, identity.exportSecretText(), folder.path("sealed"), folder.path("opened")) == 0)
    #expect(try readFile(folder.path("opened")) == plain)
    try writeFile(folder.path("plain"), plain)
    let seals = """
      recipient = pyrage.x25519.Recipient.from_str(sys.argv[1])
      sys.stdout.buffer.write(pyrage.encrypt(sys.stdin.buffer.read(), [recipient], armored=True))
      """
    #expect(try python(seals, identity.recipient.text, folder.path("plain"), folder.path("armored")) == 0)
    let opener = try AgeOpener(
      MemorySource(readFile(folder.path("armored"))), identities: [identity], allowsArmor: true)
    #expect(try readAll(opener) == plain)
  }

  @Test("passphrases of both open on the other side")
  func passphrases() throws {
    let folder = try TemporaryFolder()
    let passphrase = SecretBytes(copying: "grüner Kiebitz".utf8)
    let sink = MemorySink()
    let sealer = try AgeSealer(passphrase: passphrase, cost: 12, to: sink)
    try sealer.write([1, 2, 3])
    try sealer.finish()
    try writeFile(folder.path("sealed"), sink.bytes)
    let opens = "sys.stdout.buffer.write(pyrage.passphrase.decrypt(sys.stdin.buffer.read(), sys.argv[1]))"
    #expect(try python(opens, "grüner Kiebitz", folder.path("sealed"), folder.path("opened")) == 0)
    #expect(try readFile(folder.path("opened")) == [1, 2, 3])
    let seals = "sys.stdout.buffer.write(pyrage.passphrase.encrypt(sys.stdin.buffer.read(), sys.argv[1]))"
    #expect(try python(seals, "grüner Kiebitz", folder.path("opened"), folder.path("theirs")) == 0)
    let opener = try AgeOpener(MemorySource(readFile(folder.path("theirs"))), passphrases: [passphrase])
    #expect(try readAll(opener) == [1, 2, 3])
  }
}

/// The age program asks for a passphrase on its terminal only; Python's pty module gives it one.
@Suite("The age program's passphrases", .enabled(if: AgePeers.canType, "age or python3 is missing"))
struct AgeProgramPassphraseTests {
  private static let typist = """
    import os, pty, sys, time
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[2], sys.argv[2:])
    for _ in range(int(sys.argv[1])):
        asked = b""
        while b"passphrase" not in asked and b"Confirm" not in asked:
            asked += os.read(terminal, 1000)
        time.sleep(0.3)
        os.write(terminal, b"kestrel over stone\\n")
        time.sleep(0.3)
    try:
        while os.read(terminal, 1000):
            pass
    except OSError:
        pass
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """

  private func age(_ promptCount: Int, _ arguments: String...) throws -> Int32 {
    try Programs.run(
      try #require(Programs.find("python3")),
      ["-c", Self.typist, "\(promptCount)", try #require(Programs.find("age"))] + arguments,
      input: "/dev/null", output: "/dev/null")
  }

  @Test("passphrases of both open on the other side, armored or not", arguments: [false, true])
  func passphrases(isArmored: Bool) throws {
    let folder = try TemporaryFolder()
    let passphrase = SecretBytes(copying: "kestrel over stone".utf8)
    let plain = randomBytes(1_000)
    let sink = MemorySink()
    let armor = AgeArmorWriter(to: sink)
    let sealer = try AgeSealer(passphrase: passphrase, cost: 12, to: isArmored ? armor : sink)
    try sealer.write(plain)
    try sealer.finish()
    if isArmored { try armor.finish() }
    try writeFile(folder.path("sealed"), sink.bytes)
    #expect(try age(1, "-d", "-o", folder.path("opened"), folder.path("sealed")) == 0)
    #expect(try readFile(folder.path("opened")) == plain)
    let form = isArmored ? ["-a"] : []
    #expect(try age(form, folder.path("opened"), folder.path("theirs")) == 0)
    let opener = try AgeOpener(
      MemorySource(readFile(folder.path("theirs"))), passphrases: [passphrase], allowsArmor: true)
    #expect(try readAll(opener) == plain)
  }

  private func age(_ form: [String], _ input: String, _ output: String) throws -> Int32 {
    try Programs.run(
      try #require(Programs.find("python3")),
      ["-c", Self.typist, "2", try #require(Programs.find("age")), "-p"] + form + ["-o", output, input],
      input: "/dev/null", output: "/dev/null")
  }
}

enum AgePeers {
  static let pyrage = Programs.python(with: "pyrage")
  static let canType = Programs.find("age") != nil && Programs.find("python3") != nil
}
