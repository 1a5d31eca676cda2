import Foundation
import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Tokens of slots")
struct SlotTokenTests {
  private let folder: TemporaryFolder
  private let machine: KeyringLocation

  init() throws {
    folder = try TemporaryFolder()
    machine = KeyringLocation(keyring: folder.path("keyring"), machineKey: folder.path("machine-key"))
    try Keyring.create(at: machine, contents: KeyringContents(identity: try newIdentity()))
  }

  private func location(_ secret: SlotSecret) -> KeyringLocation {
    KeyringLocation(keyring: machine.keyring, secrets: [secret])
  }

  private func add(_ label: String, _ secret: SlotSecret, at location: KeyringLocation? = nil) throws {
    try Keyring.addSlot(
      at: location ?? machine, label: label, secrets: [secret], cost: 10, milliseconds: 1_700_000_000_000)
  }

  private func opens(_ secret: SlotSecret) -> GodwitError.Code? {
    code { _ = try Keyring.open(at: location(secret)) }
  }

  @Test("a slot opens nothing that was sealed to its public key without its token")
  func forged() throws {
    try add("desk", .passphrase("correct horse"))
    let file = try KeyringFile(parsing: readFile(machine.keyring))
    let slot = try #require(try file.factorSlot(file.slots[1]))
    let contents = try Keyring.open(at: machine)
    let token = try #require(try contents.slotTokens.first)
    func opens(_ token: SlotToken) throws -> GodwitError.Code? {
      let masterKey = SecretBytes(random: KeyringSlot.masterKeyByteCount)
      let forged = try KeyringFile(
        sealing: KeyringContents(identity: newIdentity()), generation: 1_000,
        slots: [slot.rewrapped(masterKey, token).slot], masterKey: masterKey)
      try writeFile(machine.keyring, forged.bytes)
      return self.opens(.passphrase("correct horse"))
    }
    #expect(try opens(SlotToken(seed: SecretBytes(random: 32), publicKey: randomBytes(1_216))) == .noKeyFits)
    #expect(try opens(SlotToken(slotID: slot.id, secret: SecretBytes(copying: []))) == .noKeyFits)
    #expect(try opens(token) == nil)
  }

  /// What tokens do not end (Specs/keyring.md, "Slots").
  @Test("slots as they were open what is sealed under the master key of then, until their secrets are others")
  func replayed() throws {
    try add("desk", .passphrase("correct horse"))
    let former = try Keyring.unlock(machine)
    try Keyring.rotateMasterKey(at: machine)
    let replayed = try KeyringFile(
      sealing: KeyringContents(identity: newIdentity()), generation: 1_000, slots: former.slots,
      masterKey: former.masterKey)
    try writeFile(machine.keyring, replayed.bytes)
    #expect(opens(.passphrase("correct horse")) == nil)
    #expect(opens(.machineKey(at: machine.machineKey)) == nil)
    #expect(opens(.passphrase("another horse")) == .noKeyFits)
  }

  @Test("a slot that names another's public key does not open, though its token is true")
  func publicKey() throws {
    try add("desk", .passphrase("correct horse"))
    let opened = try Keyring.unlock(machine)
    let body = opened.slots[1].body
    let token = try #require(try opened.contents.slotTokens.first)
    let statement = Array(body.dropLast(HybridKey.shareByteCount + 48))
    let own = Array(statement.suffix(HybridKey.publicKeyByteCount))
    let others = try HybridKey(seed: SecretBytes(random: 32)).publicKey
    for publicKey in [own, others] {
      let named = Array(statement.dropLast(HybridKey.publicKeyByteCount)) + publicKey
      let (share, sealed) = try HybridKey.seal(
        opened.masterKey, to: own,
        info: token.secret.withUnsafeBytes { Array("godwit keyring v2 slot".utf8) + $0 }, authenticating: named)
      let file = try KeyringFile(
        sealing: opened.contents, generation: 9,
        slots: [KeyringSlot(type: FactorSlot.type, body: named + share + sealed)], masterKey: opened.masterKey)
      try writeFile(machine.keyring, file.bytes)
      #expect(opens(.passphrase("correct horse")) == (publicKey == own ? nil : .noKeyFits))
    }
  }

  @Test("tokens come with their slots and go with them, also the first slot's")
  func tokens() throws {
    try FileManager.default.removeItem(atPath: machine.keyring)
    let first = location(.passphrase("tame walruses"))
    try Keyring.create(at: first, contents: KeyringContents(identity: try newIdentity()))
    func tokens() throws -> [[UInt8]] { try Keyring.open(at: first).slotTokens.map(\.slotID) }
    let own = try tokens()
    try add("desk", .passphrase("correct horse"), at: first)
    let both = try tokens()
    #expect(own.count == 1 && both.count == 2 && both.first == own.first)
    try Keyring.rotateMasterKey(at: location(.passphrase("tame walruses")))
    #expect(try tokens() == both)
    #expect(opens(.passphrase("correct horse")) == nil)
    _ = try Keyring.removeSlot(at: first, "desk")
    #expect(try tokens() == own)
  }

  @Test("of two tokens of a slot the first counts; one without any can be removed alone; a cut one is damage")
  func lostToken() throws {
    try add("desk", .passphrase("correct horse"))
    let file = try KeyringFile(parsing: readFile(machine.keyring))
    let slot = try #require(try file.factorSlot(file.slots[1]))
    let token = try #require(try Keyring.open(at: machine).slotTokens.first)
    try Keyring.update(at: machine) { $0.setEntry(22, Array(repeating: 1, count: 47)) }
    #expect(code { try Keyring.rotateMasterKey(at: machine) } == .damagedKeyring)
    try Keyring.update(at: machine) { contents in
      contents.setEntry(22, nil)
      let other = SlotToken(slotID: slot.id, secret: SecretBytes(random: 32))
      contents.setSlotTokens([token, other])
    }
    try Keyring.rotateMasterKey(at: machine)
    #expect(opens(.passphrase("correct horse")) == nil)
    try Keyring.update(at: machine) { $0.setSlotTokens([]) }
    #expect(code { try Keyring.rotateMasterKey(at: machine) } == .noKeyFits)
    #expect(opens(.passphrase("correct horse")) == nil)
    _ = try Keyring.removeSlot(at: machine, "desk")
    try Keyring.rotateMasterKey(at: machine)
    #expect(opens(.machineKey(at: machine.machineKey)) == nil)
  }
}
