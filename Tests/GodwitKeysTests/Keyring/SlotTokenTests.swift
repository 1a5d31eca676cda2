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

  @Test("a slot opens for nobody who was given its public key alone, by another token, or by none")
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

  @Test("a slot whose token is lost is not given a new master key, but can be removed; a cut one is damage")
  func lostToken() throws {
    try add("desk", .passphrase("correct horse"))
    try Keyring.update(at: machine) { $0.setEntry(22, Array(repeating: 1, count: 47)) }
    #expect(code { try Keyring.rotateMasterKey(at: machine) } == .damagedKeyring)
    try Keyring.update(at: machine) { $0.setSlotTokens([]) }
    #expect(code { try Keyring.rotateMasterKey(at: machine) } == .noKeyFits)
    #expect(opens(.passphrase("correct horse")) == nil)
    _ = try Keyring.removeSlot(at: machine, "desk")
    try Keyring.rotateMasterKey(at: machine)
    #expect(opens(.machineKey(at: machine.machineKey)) == nil)
  }
}
