import Foundation
import GodwitBase
import GodwitFiles
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Keyrings refused")
struct KeyringRefusalTests {
  private let folder: TemporaryFolder
  private let location: KeyringLocation
  private let signingSeed = randomBytes(32)
  private let agreementKey = randomBytes(32)
  private let databaseKey = randomBytes(32)

  init() throws {
    folder = try TemporaryFolder()
    location = KeyringLocation(keyring: folder.path("keyring"), machineKey: folder.path("machine-key"))
    let identity = try Identity(
      replica: newIdentity().replica, signingSeed: SecretBytes(copying: signingSeed),
      agreementKey: SecretBytes(copying: agreementKey))
    try Keyring.create(
      at: location, contents: KeyringContents(identity: identity, databaseKey: SecretBytes(copying: databaseKey)))
  }

  private func openCode() -> GodwitError.Code? { code { _ = try Keyring.open(at: location) } }

  @Test("the file holds none of the secrets, raw or as text")
  func markerScan() throws {
    let (_, machineKey) = try Bech32.decode(readFile(location.machineKey).dropLast(), what: "the machine key")
    #expect(machineKey.count == 32)
    let file = try readFile(location.keyring)
    for secret in [signingSeed, agreementKey, databaseKey, machineKey] {
      #expect(!contains(file, Array(secret[..<8])))
      #expect(!contains(file, Array(secret[24...])))
      #expect(!contains(file, Array(Hexadecimal.encode(secret).utf8.prefix(12))))
      #expect(!contains(file, Array(Base64.encode(secret).prefix(12))))
    }
    #expect(!contains(file, Array("SECRET".utf8)))
  }

  @Test("a missing keyring is said to be missing")
  func missing() throws {
    try FileManager.default.removeItem(atPath: location.keyring)
    #expect(openCode() == .missingKeyring)
    #expect(code { try Keyring.update(at: location) { _ in } } == .missingKeyring)
    let nowhere = KeyringLocation(keyring: folder.path("no/such/keyring"), machineKey: location.machineKey)
    #expect(code { try Keyring.update(at: nowhere) { _ in } } == .missingKeyring)
    #expect(!FileManager.default.fileExists(atPath: folder.path("no")))
  }

  @Test("a machine key that is missing, another one or damaged does not fit")
  func machineKeys() throws {
    let text = try readFile(location.machineKey)
    try FileManager.default.removeItem(atPath: location.machineKey)
    #expect(openCode() == .noKeyFits)
    #expect(!FileManager.default.fileExists(atPath: location.machineKey))
    _ = try MachineKeyFile.readOrCreate(location.machineKey)
    #expect(openCode() == .noKeyFits)
    for index in text.indices.dropLast() {
      var changed = text
      changed[index] ^= 1
      try writeFile(location.machineKey, changed)
      #expect(openCode() == .noKeyFits, "byte \(index)")
    }
    try writeFile(location.machineKey, [])
    #expect(openCode() == .noKeyFits)
    try writeFile(location.machineKey, text)
    #expect(openCode() == nil)
  }

  @Test("a keyring with any byte changed is refused", arguments: [0x01, 0x80] as [UInt8])
  func everyByte(mask: UInt8) throws {
    let bytes = try readFile(location.keyring)
    // Magic 8, version 2, generation 8, slot count 1, slot type 1, slot length 1, slot body 76, then the sealed body.
    let slot = 19..<21 + 76
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= mask
      try writeFile(location.keyring, changed)
      let refusal = openCode()
      switch index {
      case 8, 9: #expect(refusal == .unsupportedVersion || refusal == .damagedKeyring, "byte \(index)")
      case slot: #expect(refusal == .noKeyFits || refusal == .damagedKeyring, "byte \(index)")
      default: #expect(refusal == .damagedKeyring, "byte \(index)")
      }
    }
  }

  @Test("a keyring cut at any length, or extended, is damaged")
  func everyLength() throws {
    let bytes = try readFile(location.keyring)
    for count in bytes.indices {
      try writeFile(location.keyring, Array(bytes[..<count]))
      #expect(openCode() == .damagedKeyring, "length \(count)")
    }
    try writeFile(location.keyring, bytes + [0])
    #expect(openCode() == .damagedKeyring)
    try writeFile(location.keyring, [UInt8](repeating: 0, count: Keyring.byteCountMax + 1))
    #expect(openCode() == .limitExceeded)
  }

  @Test("a newer version is distinguished from damage")
  func newerVersion() throws {
    var bytes = try readFile(location.keyring)
    bytes[9] = 2
    try writeFile(location.keyring, bytes)
    #expect(openCode() == .unsupportedVersion)
    bytes[9] = 0
    try writeFile(location.keyring, bytes)
    #expect(openCode() == .damagedKeyring)
  }

  @Test("files open to others are refused with the command that helps", arguments: [0o644, 0o640, 0o604, 0o666])
  func looseModes(mode: Int) throws {
    for path in [location.keyring, location.machineKey] {
      try setMode(path, mode)
      let error = #expect(throws: GodwitError.self) { try Keyring.open(at: location) }
      #expect(error?.code == .unsafeFile)
      #expect(error?.hint == "run: chmod 600 \(path)")
      #expect(code { try Keyring.update(at: location) { _ in } } == .unsafeFile)
      try setMode(path, 0o600)
    }
    #expect(openCode() == nil)
  }

  @Test("links in the place of the files are refused")
  func links() throws {
    for path in [location.keyring, location.machineKey] {
      let moved = "\(path).moved"
      try FileManager.default.moveItem(atPath: path, toPath: moved)
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: moved)
      #expect(openCode() == .unsafeFile)
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.linkItem(atPath: moved, toPath: path)
      #expect(openCode() == .unsafeFile)
      try FileManager.default.removeItem(atPath: moved)
      #expect(openCode() == nil)
    }
  }

  @Test("a folder that others write to is not used for a new keyring or machine key, one that they look into is")
  func looseFolder() throws {
    let second = KeyringLocation(keyring: folder.path("second"), machineKey: folder.path("second.key"))
    let contents = KeyringContents(identity: try newIdentity())
    for mode in [0o775, 0o757, 0o777] {
      try setMode(folder.path, mode)
      #expect(code { try Keyring.create(at: second, contents: contents) } == .unsafeFile)
      #expect(code { _ = try MachineKeyFile.readOrCreate(folder.path("second.key")) } == .unsafeFile)
    }
    #expect(!FileManager.default.fileExists(atPath: second.keyring))
    #expect(!FileManager.default.fileExists(atPath: folder.path("second.key")))
    try setMode(folder.path, 0o755)
    #expect(code { try Keyring.create(at: second, contents: contents) } == nil)
    for file in [second.keyring, folder.path("second.key")] {
      #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test("slots of unknown types are passed over and kept")
  func unknownSlots() throws {
    let machineKey = try MachineKeyFile.read(location.machineKey)
    let masterKey = SecretBytes(random: 32)
    let unknown = KeyringSlot(type: 9, body: randomBytes(300))
    let slots = [unknown, try KeyringSlot(wrapping: masterKey, with: machineKey), KeyringSlot(type: 200, body: [])]
    let contents = try Keyring.open(at: location)
    let file = try KeyringFile(sealing: contents, generation: 7, slots: slots, masterKey: masterKey)
    try writeFile(location.keyring, file.bytes)
    try Keyring.update(at: location) { $0.databaseSalt = randomBytes(16) }
    let after = try KeyringFile(parsing: readFile(location.keyring))
    #expect(after.slots == slots)
    #expect(after.generation == 8)
  }

  @Test("a keyring without a slot that this version knows does not open")
  func noSlots() throws {
    let contents = try Keyring.open(at: location)
    let file = try KeyringFile(sealing: contents, generation: 1, slots: [], masterKey: SecretBytes(random: 32))
    try writeFile(location.keyring, file.bytes)
    #expect(openCode() == .noKeyFits)
  }

  @Test("a body moved under another keyring's slots is damaged")
  func exchangedBody() throws {
    let machineKey = try MachineKeyFile.read(location.machineKey)
    let contents = try Keyring.open(at: location)
    let masterKey = SecretBytes(random: 32)
    let slot = try KeyringSlot(wrapping: masterKey, with: machineKey)
    let old = try KeyringFile(sealing: contents, generation: 1, slots: [slot], masterKey: masterKey)
    let new = try KeyringFile(sealing: contents, generation: 2, slots: [slot], masterKey: masterKey)
    let bodyByteCount = 12 + (try contents.encoded().count) + 16
    try writeFile(location.keyring, new.bytes.dropLast(bodyByteCount) + old.bytes.suffix(bodyByteCount))
    #expect(openCode() == .damagedKeyring)
  }
}
