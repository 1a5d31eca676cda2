import Foundation
import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

/// Makes the vectors anew, with new keys: `GODWIT_RECORD_GOLDEN=1 swift test --filter KeyringVectorRecordingTests`.
@Suite("Recording keyring vectors", .enabled(if: ProcessInfo.processInfo.environment["GODWIT_RECORD_GOLDEN"] != nil))
struct KeyringVectorRecordingTests {
  private let folder: TemporaryFolder
  private let location: KeyringLocation
  private let passphrase = "grüner Kiebitz"
  private let recoveryCode = RecoveryCode().exportSecretText()
  private let key = String(decoding: MachineKeyFile.newText(), as: UTF8.self)

  init() throws {
    folder = try TemporaryFolder()
    location = KeyringLocation(keyring: folder.path("keyring"), machineKey: folder.path("machine-key"))
  }

  private func write(_ name: String, _ vector: KeyringVector) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try FileManager.default.createDirectory(atPath: KeyringVectorTests.folder, withIntermediateDirectories: true)
    try writeFile("\(KeyringVectorTests.folder)/\(name).json", Array(encoder.encode(vector)) + [0x0A])
    chmod("\(KeyringVectorTests.folder)/\(name).json", 0o644)
  }

  private var file: [UInt8] { get throws { try readFile(location.keyring) } }

  private func contents() throws -> KeyringVector.Contents {
    try KeyringVector.Contents(Keyring.open(at: location), Keyring.slots(at: location.keyring).slots)
  }

  @Test("all of them")
  func record() throws {
    let identity = try newIdentity()
    let group = newGroup()
    try Keyring.create(at: location, contents: KeyringContents(identity: identity))
    let machineKey = String(decoding: try readFile(location.machineKey), as: UTF8.self)
    func vector(_ title: String, _ bytes: [UInt8]) -> KeyringVector {
      KeyringVector(title: title, keyring: Hexadecimal.encode(bytes))
    }
    func good(_ name: String, _ title: String, _ offer: (inout KeyringVector) -> Void) throws {
      var vector = vector(title, try file)
      offer(&vector)
      vector.contents = try contents()
      try write(name, vector)
    }
    func bad(
      _ name: String, _ title: String, _ code: GodwitError.Code, _ bytes: [UInt8],
      _ offer: (inout KeyringVector) -> Void
    ) throws {
      var vector = vector(title, bytes)
      offer(&vector)
      vector.error = code.rawValue
      try write(name, vector)
    }
    func machine(_ vector: inout KeyringVector) { vector.machineKey = machineKey }

    try good("open-new", "a new keyring: neither salt, group nor members", machine)
    try Keyring.update(at: location) { contents in
      contents.databaseSalt = randomBytes(16)
      contents.group = group
      contents.members = [
        try MemberRecord.issue(
          group: group, identity: identity.publicIdentity, name: "desk", status: .active, at: 1_700_000_000_000,
          by: identity),
        try MemberRecord.issue(
          group: group, identity: newIdentity().publicIdentity, name: "Лаптоп", status: .removed,
          at: 1_700_000_000_001, by: identity),
      ]
    }
    try good("open-member", "with salt, group and two members, one of them removed", machine)
    let small = try file
    func add(_ label: String, _ secrets: SlotSecret...) throws {
      try Keyring.addSlot(at: location, label: label, secrets: secrets, cost: 10, milliseconds: 1_700_000_000_000)
    }
    try writeFile(folder.path("output"), Array(key.utf8))
    try add("me", .passphrase(passphrase))
    try good("open-passphrase", "by a passphrase, with another one offered, too") {
      $0.passphrases = ["x", passphrase]
    }
    try bad("refuse-passphrase", "another passphrase, the same but composed otherwise", .noKeyFits, file) {
      $0.passphrases = [passphrase.decomposedStringWithCanonicalMapping]
    }
    _ = try Keyring.removeSlot(at: location, "me")
    try add("paper", .recoveryCode(recoveryCode))
    try good("open-recovery-code", "by a recovery code in lower case without hyphens") {
      $0.recoveryCode = recoveryCode.lowercased().replacingOccurrences(of: "-", with: "")
    }
    _ = try Keyring.removeSlot(at: location, "paper")
    try add("manager", .command(["cat", folder.path("output")]))
    try good("open-command-key", "by a command that prints a key") { $0.commandOutput = key }
    _ = try Keyring.removeSlot(at: location, "manager")
    try writeFile(folder.path("output"), Array("something a person chose\n".utf8))
    try add("manager", .command(["cat", folder.path("output")]))
    try good("open-command-text", "by a command that prints a text, which is stretched") {
      $0.commandOutput = "something a person chose\n"
    }
    _ = try Keyring.removeSlot(at: location, "manager")
    try writeFile(folder.path("godwit"), Array(key.utf8))
    try add("service", .credential(named: "godwit", in: folder.path))
    try good("open-credential", "by a credential") { $0.credentials = ["godwit": key] }
    try bad("refuse-credential-name", "the same credential by another name", .noKeyFits, file) {
      $0.credentials = ["other": key]
    }
    _ = try Keyring.removeSlot(at: location, "service")
    try add("both", .passphrase(passphrase), .recoveryCode(recoveryCode))
    try good("open-both", "by a passphrase and a recovery code together") {
      $0.passphrases = [passphrase]
      $0.recoveryCode = recoveryCode
    }
    try bad("refuse-one-of-two", "one of two secrets", .noKeyFits, file) { $0.recoveryCode = recoveryCode }
    _ = try Keyring.removeSlot(at: location, "both")
    try Keyring.rewrite(location) { $0.slots.insert(KeyringSlot(type: 77, body: [1, 2, 3]), at: 0) }
    try good("open-beside-unknown", "a slot of a type that is not known stands before", machine)
    try Keyring.rewrite(location) { opened in
      opened.slots.removeFirst()
      opened.contents.entries = [KeyringEntry(tag: 300, bytes: SecretBytes(random: 40))]
    }
    try good("open-entries", "a body of version 2, with an entry", machine)
    try Keyring.update(at: location) { contents in
      contents.entries = []
      let next = try Identity.generate(replica: identity.replica)
      var history = IdentityHistory(identity.publicIdentity)
      try history.append(next, after: identity, group: group, at: 1_700_000_000_002)
      let name = try NameRecord.issue(
        group: group, subject: identity.replica, name: "attic", at: 1_700_000_000_003, by: next)
      contents.setRoster(RosterRecords(members: contents.members, names: [name], histories: [history]))
      try contents.replaceIdentity(by: next)
    }
    try good("open-replaced-identity", "after the identity was replaced and its replica got another name", machine)

    func changed(_ index: Int, _ mask: UInt8 = 1) -> [UInt8] {
      var bytes = small
      bytes[index] ^= mask
      return bytes
    }
    try bad("refuse-magic", "another magic", .damagedKeyring, changed(0), machine)
    try bad("refuse-version-0", "version 0", .damagedKeyring, changed(9), machine)
    try bad("refuse-version-3", "version 3", .unsupportedVersion, changed(9, 2), machine)
    try bad("refuse-generation", "another generation than was sealed", .damagedKeyring, changed(17), machine)
    try bad("refuse-slot", "a byte of the only slot changed", .noKeyFits, changed(60), machine)
    try bad("refuse-body", "a byte of the body changed", .damagedKeyring, changed(small.count - 40), machine)
    try bad("refuse-cut", "cut by a byte", .damagedKeyring, Array(small.dropLast()), machine)
    try bad("refuse-extended", "a byte added", .damagedKeyring, small + [0], machine)
    try bad("refuse-no-key", "nothing is offered that fits", .noKeyFits, small) { $0.machineKey = key }
    try recordCostBomb(machineKey)
  }

  /// What others make of a file with one slot for a passphrase (``SlotTokenTests``).
  @Test("forgeries")
  func recordForgeries() throws {
    try Keyring.create(at: location, contents: KeyringContents(identity: newIdentity()))
    try Keyring.addSlot(
      at: location, label: "me", secrets: [.passphrase(passphrase)], cost: 10, milliseconds: 1_700_000_000_000)
    let opened = try Keyring.unlock(location)
    let body = opened.slots[1].body
    let statement = Array(body.dropLast(HybridKey.shareByteCount + 48))
    let own = Array(statement.suffix(HybridKey.publicKeyByteCount))
    let token = try #require(try opened.contents.slotTokens.first).secret.withUnsafeBytes(Array.init)
    let (v1, v2) = (Array("godwit keyring v1 slot".utf8), Array("godwit keyring v2 slot".utf8))
    func bad(_ name: String, _ title: String, type: UInt8 = 3, info: [UInt8], named publicKey: [UInt8]) throws {
      let named = Array(statement.dropLast(own.count)) + publicKey
      let masterKey = SecretBytes(random: KeyringSlot.masterKeyByteCount)
      let (share, sealed) = try HybridKey.seal(masterKey, to: own, info: info, authenticating: named)
      let file = try KeyringFile(
        sealing: opened.contents, generation: opened.generation,
        slots: [KeyringSlot(type: type, body: named + share + sealed)], masterKey: masterKey)
      try write(
        "refuse-\(name)",
        KeyringVector(
          title: title, keyring: Hexadecimal.encode(file.bytes), passphrases: [passphrase],
          error: GodwitError.Code.noKeyFits.rawValue))
    }
    try bad("forged", "sealed with another token than the slot's", info: v2 + randomBytes(32), named: own)
    try bad("forged-without-token", "sealed without a token", info: v2, named: own)
    try bad("forged-as-type-2", "sealed as slots of type 2 were", info: v1, named: own)
    try bad("type-2", "a slot of type 2, to which anybody could seal", type: 2, info: v1, named: own)
    let others = try HybridKey(seed: SecretBytes(random: 32)).publicKey
    try bad("public-key", "sealed with the slot's token, naming another public key", info: v2 + token, named: others)
  }

  /// Bodies that open and are of no form, slots of none, and what a keyring holds in the midst of a rekey.
  @Test("forms")
  func recordForms() throws {
    for kind in [AgeKeyKind.hybrid, .x25519] {
      try? FileManager.default.removeItem(atPath: location.keyring)
      try Keyring.create(at: location, contents: KeyringContents(identity: newIdentity(kind)))
      let title = kind == .hybrid ? "a post-quantum identity" : "an entry with the key of a database that is being made"
      if kind == .x25519 {
        try Keyring.update(at: location) { contents in
          contents.databaseSalt = randomBytes(16)
          contents.setPendingDatabase(PendingDatabase(key: SecretBytes(random: 32), salt: randomBytes(16)))
        }
      }
      var vector = KeyringVector(title: title, keyring: Hexadecimal.encode(try file))
      vector.machineKey = String(decoding: try readFile(location.machineKey), as: UTF8.self)
      vector.contents = try contents()
      try write(kind == .hybrid ? "open-post-quantum" : "open-pending", vector)
    }
    try recordBodies()
    try recordSlots()
  }

  private func recordBad(
    _ name: String, _ title: String, _ code: GodwitError.Code, _ bytes: [UInt8]
  ) throws {
    var vector = KeyringVector(title: title, keyring: Hexadecimal.encode(bytes))
    vector.machineKey = String(decoding: try readFile(location.machineKey), as: UTF8.self)
    vector.error = code.rawValue
    try write("refuse-\(name)", vector)
  }

  private func recordBodies() throws {
    try Keyring.update(at: location) { contents in
      contents.databaseSalt = nil
      contents.setPendingDatabase(nil)
    }
    let opened = try Keyring.unlock(location)
    let body = try opened.contents.encoded()
    func bad(_ name: String, _ title: String, _ body: [UInt8], _ code: GodwitError.Code = .damagedKeyring) throws {
      let file = try KeyringFile(
        sealing: body, generation: opened.generation, slots: opened.slots, masterKey: opened.masterKey)
      try recordBad("body-\(name)", title, code, file.bytes)
    }
    func changed(_ place: Int, _ byte: UInt8, appending rest: [UInt8] = []) -> [UInt8] {
      var changed = body
      changed[place] = byte
      return changed + rest
    }
    // Version, identity, database key; then the flags of salt and group, and the count of members.
    let flags = 1 + 81 + 32
    #expect(body[0] == 1 && body[flags...] == [0, 0, 0])
    try bad("version-0", "a body of version 0", changed(0, 0), .unsupportedVersion)
    try bad("version-3", "a body of version 3", changed(0, 3), .unsupportedVersion)
    try bad("identity-version", "a body with an identity of version 3", changed(1, 3), .unsupportedVersion)
    try bad("flag", "a flag of 2", changed(flags, 2))
    try bad("salt-cut", "a salt that ends beyond the body", changed(flags, 1))
    try bad("members-cut", "a member record that is not there", changed(flags + 2, 1))
    try bad("members-count", "2,049 members", Array(body.dropLast()) + [0x81, 0x10])
    try bad("no-entries", "a body of version 2 without entries", changed(0, 2, appending: [0]))
    try bad("entry-cut", "an entry that ends beyond the body", changed(0, 2, appending: [1, 16, 48, 1]))
    try bad("entries-count", "1,025 entries", changed(0, 2, appending: [0x81, 0x08]))
    try bad("extended", "a byte behind the body's fields", body + [0])
    try bad("cut", "a body without its last byte", Array(body.dropLast()))
    try bad("empty", "an empty body", [])
  }

  /// Each beside the machine key's slot, which opens: a file in another form is damaged all the same.
  private func recordSlots() throws {
    try Keyring.addSlot(
      at: location, label: "me", secrets: [.passphrase(passphrase)], cost: 10, milliseconds: 1_700_000_000_000)
    let whole = try readSlots()[1]
    func bad(_ name: String, _ title: String, _ body: [UInt8]) throws {
      try Keyring.rewrite(location) { $0.slots[1] = KeyringSlot(type: FactorSlot.type, body: whole) }
      let opened = try Keyring.unlock(location)
      let slots = [opened.slots[0], KeyringSlot(type: FactorSlot.type, body: body)]
      let file = try KeyringFile(
        sealing: opened.contents, generation: opened.generation, slots: slots, masterKey: opened.masterKey)
      try recordBad("slot-\(name)", title, .damagedKeyring, file.bytes)
    }
    try bad("cut", "a slot of type 3 without its last byte", Array(whole.dropLast()))
    try bad("extended", "a slot of type 3 with a byte more", whole + [0])
    try bad("empty", "a slot of type 3 without anything", [])
    var label = whole
    label[1] = 0x1B
    try bad("label", "a slot whose label has a control character", label)
    label[1] = 0xFF
    try bad("label-utf-8", "a slot whose label is not UTF-8", label)
    let long = [65] + [UInt8](repeating: 0x61, count: 65)
    try bad("label-length", "a slot with a label of 65 bytes", long + Array(whole.dropFirst(3)))
  }

  /// Beside a machine key that opens: what is passed over, and what it costs to be asked for a passphrase.
  @Test("kinds and costs")
  func recordKinds() throws {
    try Keyring.create(at: location, contents: KeyringContents(identity: newIdentity()))
    let machineKey = String(decoding: try readFile(location.machineKey), as: UTF8.self)
    let another = "roter Milan"
    try Keyring.addSlot(
      at: location, label: "x", secrets: [.passphrase(passphrase), .passphrase(another)], cost: 10,
      milliseconds: 1_700_000_000_000)
    func write(
      _ name: String, _ title: String, error: GodwitError.Code? = nil, _ offer: (inout KeyringVector) -> Void
    ) throws {
      var vector = KeyringVector(title: title, keyring: Hexadecimal.encode(try file), error: error?.rawValue)
      offer(&vector)
      if error == nil { vector.contents = try contents() }
      try self.write(name, vector)
    }
    try write("open-two-passphrases", "by two passphrases together, offered the other way round") {
      $0.passphrases = [another, passphrase]
    }
    try write("refuse-two-passphrases", "one of two passphrases", error: .noKeyFits) { $0.passphrases = [passphrase] }
    let slot = try readSlots()[1]
    // Label, time, count; then the first factor's kind and cost.
    let count = 2 + 8
    for (name, title, place, value) in [
      ("open-unknown-kind", "a slot with a kind of factor that is not known stands beside", count + 1, 9),
      ("open-unknown-count", "a slot of three factors stands beside", count, 3),
    ] as [(String, String, Int, UInt8)] {
      var unknown = slot
      unknown[place] = value
      if value == 3 { unknown.insert(contentsOf: slot[(count + 1)..<(count + 20)], at: count + 1) }
      try Keyring.rewrite(location) { $0.slots[1] = KeyringSlot(type: FactorSlot.type, body: unknown) }
      try write(name, title) { $0.machineKey = machineKey }
    }
    try Keyring.rewrite(location) { _ = $0.slots.removeLast() }
    let title = "a machine key whose line ends with a carriage return, too"
    try write("refuse-machine-key-crlf", title, error: .noKeyFits) {
      $0.machineKey = machineKey.trimmingCharacters(in: .newlines) + "\r\n"
    }
    try Keyring.addSlot(
      at: location, label: "x", secrets: [.passphrase(passphrase)], cost: 18, milliseconds: 1_700_000_000_000)
    try write("open-cost-18", "a passphrase that costs twice as much as usual") { $0.passphrases = [passphrase] }
    var costly = try readSlots()[1]
    costly[count + 2] = 21
    try Keyring.rewrite(location) { $0.slots[1] = KeyringSlot(type: FactorSlot.type, body: costly) }
    try write("refuse-cost-21", "a passphrase that costs 2^21", error: .limitExceeded) {
      $0.passphrases = [passphrase]
    }
    try Keyring.rewrite(location) { opened in
      opened.contents.entries = (1...2).map { KeyringEntry(tag: 300, bytes: SecretBytes(copying: [$0])) }
    }
    try write("open-entries-twice", "two entries of a tag that is not known") { $0.machineKey = machineKey }
  }

  private func recordCostBomb(_ machineKey: String) throws {
    try Keyring.addSlot(
      at: location, label: "x", secrets: [.passphrase(passphrase)], cost: 10, milliseconds: 1_700_000_000_000)
    var slot = try readSlots()[1]
    slot[2 + 8 + 1 + 1] = 30  // label, time and count, kind
    let bomb = KeyringSlot(type: FactorSlot.type, body: slot)
    try Keyring.rewrite(location) { $0.slots[1] = bomb }
    try write(
      "refuse-cost",
      KeyringVector(
        title: "a passphrase that would cost 1 TiB", keyring: Hexadecimal.encode(file), passphrases: [passphrase],
        error: GodwitError.Code.limitExceeded.rawValue))
  }

  private func readSlots() throws -> [[UInt8]] { try KeyringFile(parsing: file).slots.map(\.body) }
}
