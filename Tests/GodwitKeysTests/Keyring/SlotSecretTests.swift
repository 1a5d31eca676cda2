import Foundation
import GodwitBase
import GodwitFiles
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Recovery codes")
struct RecoveryCodeTests {
  @Test("a code is eight groups of four that read back")
  func roundTrip() throws {
    for _ in 0..<100 {
      let code = RecoveryCode()
      let text = code.exportSecretText()
      #expect(text.split(separator: "-").map(\.count) == [Int](repeating: 4, count: 8))
      #expect(try RecoveryCode(Array(text.utf8)).secret == code.secret)
      #expect(!text.contains { "1BIO".contains($0) })
    }
  }

  @Test("one wrong character is refused and its group named")
  func oneMistake() throws {
    let text = Array(RecoveryCode().exportSecretText().utf8)
    for index in text.indices where text[index] != UInt8(ascii: "-") {
      var changed = text
      changed[index] = changed[index] == UInt8(ascii: "Q") ? UInt8(ascii: "P") : UInt8(ascii: "Q")
      let error = #expect(throws: GodwitError.self) { try RecoveryCode(changed) }
      #expect(error?.hint == "look at group \(index / 5 + 1) again")
    }
  }

  @Test("two characters exchanged, a group left out or another alphabet are refused")
  func otherMistakes() throws {
    let text = RecoveryCode().exportSecretText()
    #expect(code { _ = try RecoveryCode(Array(text.dropLast(5).utf8)) } == .invalidKey)
    #expect(code { _ = try RecoveryCode(Array((text + "Q").utf8)) } == .invalidKey)
    #expect(code { _ = try RecoveryCode(Array(("B" + text.dropFirst()).utf8)) } == .invalidKey)
    #expect(code { _ = try RecoveryCode([]) } == .invalidKey)
  }
}

@Suite("Parent folders")
struct ParentFolderTests {
  private let folder: TemporaryFolder
  private let location: KeyringLocation

  init() throws {
    folder = try TemporaryFolder()
    location = KeyringLocation(keyring: folder.path("a/b/keyring"), machineKey: folder.path("c/machine-key"))
    try Keyring.create(at: location, contents: KeyringContents(identity: try newIdentity()))
  }

  @Test(
    "a folder that others can write to is refused with the command that mends it",
    arguments: [("a", 0o777, "o-w"), ("a/b", 0o770, "go-w"), ("a/b", 0o702, "go-w"), ("c", 0o770, "go-w")])
  func writable(name: String, mode: Int, change: String) throws {
    try setMode(folder.path(name), mode)
    let error = #expect(throws: GodwitError.self) { try Keyring.open(at: location) }
    #expect(error?.code == .unsafeFile)
    #expect(error?.hint?.hasPrefix("run: chmod \(change) ") == true)
    #expect(code { try Keyring.update(at: location) { _ in } } == .unsafeFile)
    try setMode(folder.path(name), 0o700)
    #expect(code { _ = try Keyring.open(at: location) } == nil)
  }

  @Test("a group may own the folders above")
  func group() throws {
    try setMode(folder.path("a"), 0o775)
    #expect(code { _ = try Keyring.open(at: location) } == nil)
  }

  @Test("a folder like /tmp may be above, but not hold the keyring itself")
  func sticky() throws {
    try setMode(folder.path("a"), 0o1777)
    #expect(code { _ = try Keyring.open(at: location) } == nil)
    try setMode(folder.path("a/b"), 0o1777)
    #expect(code { _ = try Keyring.open(at: location) } == .unsafeFile)
  }

  @Test("a folder of another user is refused", .enabled(if: geteuid() == 0, "only root can give a folder away"))
  func owner() throws {
    #expect(chown(folder.path("a/b"), 12_345, 12_345) == 0)
    #expect(code { _ = try Keyring.open(at: location) } == .unsafeFile)
  }

  @Test("what a killed writer left behind goes with the next change, and nothing else does")
  func leftovers() throws {
    let names = [
      "keyring.0w5e11264sgsf.tmp", "keyring.anchor.0w5e11264sgsf.tmp", "keyring.tmp", "other.0w5e11264sgsf.tmp",
      "keyring.0W5E11264SGSF.tmp", "keyring.old.tmp", "keyring.0w5e11264sgs.tmp", "keyring.0w5e11264sgsf0.tmp",
    ]
    for name in names { try writeFile(folder.path("a/b/\(name)"), [1]) }
    try Keyring.update(at: location) { $0.databaseSalt = randomBytes(16) }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path("a/b"))
    #expect(Set(left) == Set(names.dropFirst() + ["keyring", "keyring.lock"]))
  }
}

@Suite("Secrets in files")
struct SecretFileTests {
  private func refusal(_ path: String) -> GodwitError.Code? {
    code { _ = try SecretText.read(file: path, called: path) }
  }

  @Test("one that others can read is refused, wherever it lies")
  func loose() throws {
    let path = "/dev/shm/godwit-secret-\(UInt64.random(in: 0...UInt64.max))"
    try writeFile(path, Array("secret\n".utf8))
    defer { unlink(path) }
    #expect(refusal(path) == nil)
    try setMode(path, 0o644)
    let name = path.dropFirst("/dev/shm/".count)
    for way in [
      path, "/dev/../dev/shm/\(name)", "/dev/fd/../../../dev/shm/\(name)", "/dev//shm/\(name)",
      "/proc/self/fd/../../../dev/shm/\(name)",
    ] where FileManager.default.fileExists(atPath: way) {
      #expect(refusal(way) == .unsafeFile, "\(way)")
    }
    try setMode(path, 0o640)
    #expect(refusal(path) == .unsafeFile)
  }

  @Test("one on a descriptor is read whatever its mode, for who opened it could read it")
  func descriptor() throws {
    let folder = try TemporaryFolder()
    try writeFile(folder.path("secret"), Array("secret\n".utf8))
    try setMode(folder.path("secret"), 0o644)
    let file = try FileDescriptor.openForReading(folder.path("secret"))
    for way in ["/dev/fd/\(file.rawValue)", "/proc/self/fd/\(file.rawValue)"] { #expect(refusal(way) == nil, "\(way)") }
    #expect(refusal("/proc/self/fd/0\(file.rawValue)/") != nil)
    #expect(refusal(folder.path("secret")) == .unsafeFile)
  }
}

@Suite("Credentials of systemd")
struct CredentialTests {
  private let folder: TemporaryFolder
  private let location: KeyringLocation

  init() throws {
    folder = try TemporaryFolder()
    location = KeyringLocation(keyring: folder.path("keyring"), machineKey: folder.path("machine-key"))
    try Keyring.create(at: location, contents: KeyringContents(identity: try newIdentity()))
    try FileManager.default.createDirectory(atPath: folder.path("credentials"), withIntermediateDirectories: false)
    try writeFile(folder.path("credentials/godwit"), MachineKeyFile.newText())
  }

  private func secret(_ name: String) -> SlotSecret { .credential(named: name, in: folder.path("credentials")) }

  private func opens(_ secret: SlotSecret) -> GodwitError.Code? {
    code { _ = try Keyring.open(at: KeyringLocation(keyring: location.keyring, secrets: [secret])) }
  }

  @Test("a credential opens its slot, by the name it was added with")
  func opening() throws {
    try Keyring.addSlot(
      at: location, label: "service", secrets: [secret("godwit")], milliseconds: 1)
    #expect(opens(secret("godwit")) == nil)
    #expect(opens(secret("other")) == .noKeyFits)
    #expect(try Keyring.slots(at: location.keyring).slots[1].credential == "godwit")
    #expect(opens(.credential(named: "godwit", in: nil)) == .noKeyFits)
    #expect(opens(.credential(named: "godwit", in: "credentials")) == .noKeyFits)
  }

  @Test("a new keyring can begin with one, without any machine key file")
  func creation() throws {
    let secrets = [secret("godwit")]
    let second = KeyringLocation(keyring: folder.path("second"), secrets: secrets)
    try Keyring.create(at: second, contents: KeyringContents(identity: try newIdentity()))
    #expect(code { _ = try Keyring.open(at: KeyringLocation(keyring: second.keyring, secrets: secrets)) } == nil)
  }

  @Test(
    "a name that leads elsewhere is refused", arguments: ["../machine-key", "/etc/passwd", "..", ".", "", "a/b", "a\0"])
  func names(name: String) {
    #expect(code { _ = try secret(name).fetch() } == .invalidArgument)
  }

  @Test("a credential that others can read, or that is a link, is refused")
  func loose() throws {
    try setMode(folder.path("credentials/godwit"), 0o644)
    #expect(code { _ = try secret("godwit").fetch() } == .unsafeFile)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("credentials/link"), withDestinationPath: folder.path("machine-key"))
    #expect(code { _ = try secret("link").fetch() } == .fileAccess)
  }
}
