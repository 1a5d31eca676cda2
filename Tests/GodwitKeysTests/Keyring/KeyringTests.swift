import Foundation
import GodwitBase
import GodwitFiles
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Keyring")
struct KeyringTests {
  private let folder: TemporaryFolder
  private let location: KeyringLocation

  init() throws {
    folder = try TemporaryFolder()
    location = KeyringLocation(keyring: folder.path("state/keyring"), machineKey: folder.path("config/machine-key"))
  }

  @discardableResult
  private func create() throws -> KeyringContents {
    let identity = try newIdentity()
    let group = newGroup()
    let contents = KeyringContents(
      identity: identity, databaseKey: SecretBytes(random: 32), group: group,
      members: [
        try MemberRecord.issue(
          group: group, identity: identity.publicIdentity, name: "desk", status: .active, at: 1, by: identity)
      ])
    try Keyring.create(at: location, contents: contents)
    return contents
  }

  private func expectEqual(_ left: KeyringContents, _ right: KeyringContents) {
    #expect(left.identity.publicIdentity == right.identity.publicIdentity)
    #expect(left.identity.ageIdentity.secret == right.identity.ageIdentity.secret)
    #expect(left.databaseKey == right.databaseKey)
    #expect(left.databaseSalt == right.databaseSalt)
    #expect(left.group == right.group)
    #expect(left.members == right.members)
  }

  @Test("a keyring opens with what it was made of")
  func roundTrip() throws {
    let contents = try create()
    let opened = try Keyring.open(at: location)
    expectEqual(opened, contents)
    #expect(opened.members[0].isSigned(by: opened.identity.publicIdentity))
  }

  @Test("files are 0600 in folders of 0700, whatever the umask, and nothing temporary stays")
  func modes() throws {
    let old = umask(0)
    defer { umask(old) }
    try create()
    try Keyring.update(at: location) { $0.databaseSalt = randomBytes(16) }
    for folder in ["state", "config"] { #expect(try mode(self.folder.path(folder)) == 0o700) }
    let files = try ["state", "config"].flatMap { folder in
      try FileManager.default.contentsOfDirectory(atPath: self.folder.path(folder)).map { "\(folder)/\($0)" }
    }
    #expect(files.sorted() == ["config/machine-key", "config/machine-key.lock", "state/keyring", "state/keyring.lock"])
    for file in files { #expect(try mode(self.folder.path(file)) == 0o600) }
  }

  @Test("a second keyring in the same place is refused and the first one stays")
  func createTwice() throws {
    let contents = try create()
    let before = try readFile(location.keyring)
    #expect(code { try Keyring.create(at: location, contents: contents) } == .replicaExists)
    #expect(try readFile(location.keyring) == before)
  }

  @Test("two keyrings can share a machine key")
  func sharedMachineKey() throws {
    try create()
    let key = try readFile(location.machineKey)
    let second = KeyringLocation(keyring: folder.path("other/keyring"), machineKey: location.machineKey)
    let contents = KeyringContents(identity: try newIdentity())
    try Keyring.create(at: second, contents: contents)
    #expect(try readFile(location.machineKey) == key)
    expectEqual(try Keyring.open(at: second), contents)
  }

  @Test("the machine key file is one line that says what it is")
  func machineKeyText() throws {
    try create()
    let text = String(decoding: try readFile(location.machineKey), as: UTF8.self)
    #expect(text.hasPrefix("GODWIT-MACHINE-KEY-1"))
    #expect(text.filter { $0 == "\n" }.count == 1 && text.hasSuffix("\n"))
    try writeFile(location.machineKey, Array(text.utf8.dropLast()))
    #expect(code { _ = try Keyring.open(at: location) } == nil)
  }

  @Test("an update is kept, grows the generation by one and seals anew")
  func update() throws {
    try create()
    let before = try readFile(location.keyring)
    let salt = randomBytes(16)
    let answer = try Keyring.update(at: location) { contents in
      contents.databaseSalt = salt
      return 42
    }
    #expect(answer == 42)
    #expect(try Keyring.open(at: location).databaseSalt == salt)
    let after = try readFile(location.keyring)
    #expect(try KeyringFile(parsing: before).generation == 1)
    #expect(try KeyringFile(parsing: after).generation == 2)
    #expect(!contains(after, Array(before.suffix(28))))
  }

  @Test("an update that throws, or makes what cannot be stored, changes nothing")
  func failedUpdate() throws {
    try create()
    let before = try readFile(location.keyring)
    let thrown = code { try Keyring.update(at: location) { _ in throw GodwitError(.busy, "not now") } }
    #expect(thrown == .busy)
    let unsaltable = code { try Keyring.update(at: location) { $0.databaseSalt = [1, 2, 3] } }
    #expect(unsaltable == .invalidArgument)
    let short = code { try Keyring.update(at: location) { $0.databaseKey = SecretBytes(random: 31) } }
    #expect(short == .invalidArgument)
    let crowded = code {
      try Keyring.update(at: location) { $0.members = .init(repeating: $0.members[0], count: 2_049) }
    }
    #expect(crowded == .limitExceeded)
    #expect(try readFile(location.keyring) == before)
  }

  @Test("writers at the same time lose no update")
  func concurrentUpdates() async throws {
    let contents = try create()
    let location = location
    let record = contents.members[0]
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<5 {
            #expect(code { try Keyring.update(at: location) { $0.members.append(record) } } == nil)
          }
        }
      }
    }
    #expect(try Keyring.open(at: location).members.count == 41)
    #expect(try KeyringFile(parsing: readFile(location.keyring)).generation == 41)
  }

  @Test("a keyring of 2,048 members stays within the size limit")
  func manyMembers() throws {
    let contents = try create()
    let longest = try MemberRecord.issue(
      group: newGroup(), identity: newIdentity().publicIdentity, name: String(repeating: "n", count: 64),
      status: .active, at: .max, by: contents.identity)
    try Keyring.update(at: location) { $0.members = .init(repeating: longest, count: 2_048) }
    #expect(try Keyring.open(at: location).members.count == 2_048)
  }
}
