import Foundation
import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Slots")
struct SlotTests {
  private let folder: TemporaryFolder
  private let machine: KeyringLocation
  /// Cheap, so that the tests are quick.
  private let cost = 10

  init() throws {
    folder = try TemporaryFolder()
    machine = KeyringLocation(keyring: folder.path("keyring"), machineKey: folder.path("machine-key"))
    try Keyring.create(at: machine, contents: KeyringContents(identity: try newIdentity()))
  }

  private func location(_ secrets: SlotSecret...) -> KeyringLocation {
    KeyringLocation(keyring: machine.keyring, secrets: secrets)
  }

  private func add(_ label: String, _ secrets: SlotSecret..., at location: KeyringLocation? = nil) throws {
    try Keyring.addSlot(
      at: location ?? machine, label: label, secrets: secrets, cost: cost, milliseconds: 1_700_000_000_000)
  }

  private func opens(_ secrets: SlotSecret...) -> GodwitError.Code? {
    code { _ = try Keyring.open(at: KeyringLocation(keyring: machine.keyring, secrets: secrets)) }
  }

  private func command(_ text: String) throws -> SlotSecret {
    let path = folder.path("secret-\(UInt32.random(in: 0...UInt32.max))")
    try writeFile(path, Array(text.utf8))
    return .command(["cat", path])
  }

  @Test("a passphrase opens its slot, another does not, and other slots still open")
  func passphrase() throws {
    try add("desk", .passphrase("correct horse"))
    #expect(opens(.passphrase("correct horse")) == nil)
    #expect(opens(.passphrase("wrong horses")) == .noKeyFits)
    #expect(opens(.machineKey(at: machine.machineKey)) == nil)
    #expect(opens(.machineKey(at: folder.path("no-key")), .passphrase("correct horse")) == nil)
    #expect(opens(.machineKey(at: folder.path("no-key"))) == .noKeyFits)
  }

  @Test("a passphrase is asked for once, and not at all when the machine key opens")
  func asking() throws {
    try add("desk", .passphrase("correct horse"))
    nonisolated(unsafe) var count = 0
    let asking = SlotSecret.passphrase {
      count += 1
      return Array("correct horse".utf8)
    }
    _ = try Keyring.open(at: location(.machineKey(at: machine.machineKey), asking))
    #expect(count == 0)
    let asked = location(asking)
    for _ in 0..<3 { _ = try Keyring.open(at: asked) }
    try Keyring.update(at: asked) { $0.databaseSalt = randomBytes(16) }
    try Keyring.rotateMasterKey(at: location(.machineKey(at: machine.machineKey)))
    #expect(count == 1)
    _ = try Keyring.open(at: asked)
    #expect(count == 2)
  }

  @Test("a recovery code opens its slot as a person types it")
  func recoveryCode() throws {
    let text = RecoveryCode().exportSecretText()
    try add("paper", .recoveryCode(text))
    #expect(opens(.recoveryCode(text)) == nil)
    #expect(opens(.recoveryCode(text.lowercased().replacingOccurrences(of: "-", with: "  ") + "\n")) == nil)
    #expect(opens(.recoveryCode(RecoveryCode().exportSecretText())) == .noKeyFits)
  }

  @Test("a command's output opens its slot, whether a key or a text, with or without a line's end")
  func command() throws {
    let key = String(decoding: MachineKeyFile.newText(), as: UTF8.self)
    try add("manager", try command(key))
    try add("text", try command("something a person chose\r\n"))
    #expect(opens(try command(key.trimmingCharacters(in: .newlines))) == nil)
    #expect(opens(try command("something a person chose")) == nil)
    #expect(opens(try command("something else")) == .noKeyFits)
    #expect(opens(.command(["false"])) == .noKeyFits)
    #expect(opens(.command(["/no/such/program"])) == .noKeyFits)
    #expect(opens(.command(["true"])) == .noKeyFits)
    #expect(code { try add("shell", .command(["echo secret; cat"])) } == .noKeyFits)
    #expect(code { try add("none", .command([])) } == .invalidArgument)
    #expect(code { try add("flood", .command(["head", "-c", "5000", "/dev/zero"])) } == .limitExceeded)
  }

  @Test("no error of a failing command shows what it printed")
  func quietErrors() throws {
    let error = #expect(throws: GodwitError.self) {
      try SlotSecret.command(["sh", "-c", "echo hush-hush; exit 3"]).fetch()
    }
    #expect(error.map { !"\($0)".contains("hush-hush\n") && $0.message == "the key command sh failed" } == true)
  }

  @Test("both of two are needed, in whatever order they are offered")
  func both() throws {
    let code = RecoveryCode().exportSecretText()
    try add("two", .passphrase("correct horse"), .recoveryCode(code))
    #expect(opens(.passphrase("correct horse"), .recoveryCode(code)) == nil)
    #expect(opens(.recoveryCode(code), .passphrase("wrong horses"), .passphrase("correct horse")) == nil)
    #expect(opens(.passphrase("correct horse")) == .noKeyFits)
    #expect(opens(.recoveryCode(code)) == .noKeyFits)
    #expect(opens(.passphrase("correct horse"), .recoveryCode(RecoveryCode().exportSecretText())) == .noKeyFits)
  }

  @Test("two of one kind are two secrets, not one twice")
  func twoOfOneKind() throws {
    try add("two", .passphrase("correct horse"), .passphrase("battery staple"))
    #expect(opens(.passphrase("battery staple"), .passphrase("correct horse")) == nil)
    #expect(opens(.passphrase("correct horse")) == .noKeyFits)
    #expect(opens(.passphrase("battery staple")) == .noKeyFits)
    #expect(code { try add("same", .passphrase("correct horse"), .passphrase("correct horse")) } == .invalidArgument)
    #expect(try Keyring.slots(at: machine.keyring).slots.map(\.label) == ["machine", "two"])
  }

  @Test("a second secret is asked for only where a slot needs two of its kind, and after the first")
  func secondOfOneKind() throws {
    nonisolated(unsafe) var asked: [Int] = []
    func prompts(_ first: String, _ second: String) -> [SlotSecret] {
      asked = []
      return [
        .passphrase {
          asked.append(1)
          return Array(first.utf8)
        },
        SlotSecret.passphrase {
          asked.append(2)
          return Array(second.utf8)
        }.asSecond,
      ]
    }
    func opens(_ secrets: [SlotSecret]) -> Bool {
      code { _ = try Keyring.open(at: KeyringLocation(keyring: machine.keyring, secrets: secrets)) } == nil
    }
    try add("one", .passphrase("tame walruses"))
    #expect(!opens(prompts("wild walruses", "tame walruses")))
    #expect(asked == [1])
    try add("two", .passphrase("correct horse"), .passphrase("battery staple"))
    #expect(opens(prompts("battery staple", "correct horse")))
    #expect(asked == [1, 2])
  }

  @Test("is not dropped while no other slot has been seen to open, unless that is forced")
  func removeLocksNobodyOut() throws {
    try add("desk", .passphrase("correct horse"))
    let before = try readFile(machine.keyring)
    #expect(code { _ = try Keyring.removeSlot(at: machine, "machine") } == .noKeyFits)
    let slip = location(.machineKey(at: machine.machineKey), .passphrase("correct house"))
    #expect(code { _ = try Keyring.removeSlot(at: slip, "machine") } == .noKeyFits)
    #expect(try readFile(machine.keyring) == before)
    nonisolated(unsafe) var count = 0
    let asking = SlotSecret.passphrase {
      count += 1
      return Array("correct horse".utf8)
    }
    _ = try Keyring.removeSlot(at: location(.machineKey(at: machine.machineKey), asking), "machine")
    #expect(count == 1)
    try add("paper", .recoveryCode(RecoveryCode().exportSecretText()), at: location(.passphrase("correct horse")))
    #expect(code { _ = try Keyring.removeSlot(at: location(asking), "desk") } == .noKeyFits)
    #expect(count == 2)
    #expect(try Keyring.removeSlot(at: location(asking), "desk", isForced: true).label == "desk")
    #expect(try Keyring.slots(at: machine.keyring).slots.map(\.label) == ["paper"])
  }

  @Test("an error says first what does not fit, each reason once, and what the slots need")
  func reasons() throws {
    try add("desk", .passphrase("correct horse"))
    try add("home", .passphrase("tame walruses"))
    try add("paper", .recoveryCode(RecoveryCode().exportSecretText()))
    func error(_ secrets: SlotSecret...) -> GodwitError? {
      do {
        _ = try Keyring.open(at: KeyringLocation(keyring: machine.keyring, secrets: secrets))
        return nil
      } catch { return error as? GodwitError }
    }
    let missing = SlotSecret.machineKey(at: folder.path("no-key"))
    let wrong = try #require(error(.passphrase("wrong horses"), missing))
    let unfitting = ["desk", "home"].map { "what is offered does not open slot \($0); " }.joined()
    #expect(wrong.message.hasPrefix(unfitting))
    #expect(wrong.message.hasSuffix("no-key is missing; nothing is offered for slot paper"))
    #expect(
      wrong.hint == "its slots take what --machine-key, --passphrase-file or --recovery-code-file names; "
        + "see: godwit keyring list")
    let noTerminal: @Sendable () throws -> [UInt8] = { throw GodwitError(.noKeyFits, "there is no terminal") }
    let none = try #require(error(missing, .passphrase(noTerminal), .recoveryCode(noTerminal)))
    #expect(none.message.components(separatedBy: "there is no terminal").count == 2)
  }

  @Test("a dropped slot opens nothing written later, though its earlier file still does")
  func remove() throws {
    let code = RecoveryCode().exportSecretText()
    try add("desk", .passphrase("correct horse"))
    try add("paper", .recoveryCode(code))
    let before = try readFile(machine.keyring)
    #expect(try Keyring.removeSlot(at: machine, "desk").factors == ["passphrase"])
    #expect(opens(.passphrase("correct horse")) == .noKeyFits)
    #expect(opens(.recoveryCode(code)) == nil)
    #expect(opens(.machineKey(at: machine.machineKey)) == nil)
    let old = try SlotOpener([.passphrase("correct horse")]).masterKey(of: KeyringFile(parsing: before)).key
    let after = try KeyringFile(parsing: readFile(machine.keyring))
    #expect(throws: GodwitError.self) { try after.contents(masterKey: old) }
    #expect(try Keyring.slots(at: machine.keyring).slots.map(\.label) == ["machine", "paper"])
  }

  @Test("by number, and not the last one nor one that is not there")
  func removeRefused() throws {
    #expect(code { _ = try Keyring.removeSlot(at: machine, "desk") } == .notFound)
    #expect(code { _ = try Keyring.removeSlot(at: machine, "machine") } == .invalidArgument)
    try add("desk", .passphrase("correct horse"))
    _ = try Keyring.removeSlot(at: location(.passphrase("correct horse")), "1")
    #expect(opens(.machineKey(at: machine.machineKey)) == .noKeyFits)
    #expect(code { _ = try Keyring.removeSlot(at: location(.passphrase("correct horse")), "desk") } == .invalidArgument)
    #expect(opens(.passphrase("correct horse")) == nil)
  }

  @Test("a new master key reaches every slot whose secret is not at hand, but not a machine's")
  func rotate() throws {
    let code = RecoveryCode().exportSecretText()
    try add("desk", .passphrase("correct horse"))
    try add("two", .passphrase("battery staple"), .recoveryCode(code))
    try Keyring.rotateMasterKey(at: machine)
    #expect(opens(.passphrase("correct horse")) == nil)
    #expect(opens(.recoveryCode(code), .passphrase("battery staple")) == nil)
    let before = try readFile(machine.keyring)
    #expect(self.code { try Keyring.rotateMasterKey(at: location(.passphrase("correct horse"))) } == .noKeyFits)
    #expect(try readFile(machine.keyring) == before)
  }

  private func code(of work: () throws -> Void) -> GodwitError.Code? { GodwitKeysTests.code(of: work) }

  @Test("an opener stretches a secret once for each factor, however often it opens by that")
  func stretchedOnce() throws {
    try add("desk", .passphrase("correct horse"))
    let file = try KeyringFile(parsing: readFile(machine.keyring))
    let opener = SlotOpener([.passphrase("correct horse")])
    #expect(try opener.opensAny(of: [file.slots[1]], in: file))
    let masterKey = try opener.masterKey(of: file).key
    #expect(try file.contents(masterKey: masterKey).generation == file.generation)
    #expect(opener.spentWork == 1 << cost)
  }

  @Test("a command that prints no key, where a slot was made for one, is named as the reason")
  func keyless() throws {
    try add("manager", try command(String(decoding: MachineKeyFile.newText(), as: UTF8.self)))
    let error = #expect(throws: GodwitError.self) { try Keyring.open(at: location(command("no key"))) }
    #expect(error?.message == "nothing is offered for slot machine; the command holds no key")
  }

  @Test("a slot of another version is kept, listed and never given a new master key")
  func unknown() throws {
    let newer = [KeyringSlot(type: 77, body: [1, 2, 3]), try newerFactor()]
    try Keyring.rewrite(machine) { $0.slots += newer }
    try add("desk", .passphrase("correct horse"))
    #expect(try KeyringFile(parsing: readFile(machine.keyring)).slots[1...2].elementsEqual(newer))
    #expect(
      try Keyring.slots(at: machine.keyring).slots.map(\.label) == ["machine", "unknown-2", "unknown-3", "desk"])
    #expect(code { try Keyring.rotateMasterKey(at: machine) } == .noKeyFits)
    #expect(code { _ = try Keyring.removeSlot(at: machine, "2") } == .noKeyFits)
    #expect(try Keyring.test(at: machine).map(\.result).dropFirst().prefix(2) == [.unknown, .unknown])
  }

  /// A slot of type 3 with a kind of factor that this version does not know.
  private func newerFactor() throws -> KeyringSlot {
    let known = try FactorSlot.new(
      wrapping: SecretBytes(random: 32), label: "x", addedAt: 1,
      factors: [(SlotFactor(kind: .passphrase, cost: 0, name: ""), SecretBytes(random: 9))]
    ).slot.slot
    var body = known.body
    body[2 + 8 + 1] = 99  // label, time and count come before the factor's kind
    return KeyringSlot(type: FactorSlot.type, body: body)
  }

  @Test("labels that are taken, empty, numbers or not printable are refused")
  func labels() throws {
    for label in ["machine", "", "12", "a\u{7}", String(repeating: "x", count: 65)] {
      #expect(code { try add(label, .passphrase("correct horse")) } == .invalidArgument, "\(label)")
    }
    #expect(code { try add("short", .passphrase("7 bytes")) } == .invalidArgument)
    #expect(code { try Keyring.addSlot(at: machine, label: "none", secrets: [], milliseconds: 1) } == .invalidArgument)
  }

  @Test("testing states for each slot whether it opens, does not fit or was not tried")
  func testing() throws {
    try add("desk", .passphrase("correct horse"))
    try add("paper", .recoveryCode(RecoveryCode().exportSecretText()))
    let results = try Keyring.test(
      at: location(.machineKey(at: machine.machineKey), .passphrase("wrong horses"))
    ).map(\.result)
    #expect(results == [.opens, .doesNotFit, .notTried(nil)])
  }

  @Test("a keyring with any byte of a slot changed opens by no slot", arguments: [0x01, 0x80] as [UInt8])
  func everyByte(mask: UInt8) throws {
    let code = RecoveryCode().exportSecretText()
    try add("paper", .recoveryCode(code))
    let bytes = try readFile(machine.keyring)
    let slotStart = 19 + 2 + 76
    for index in stride(from: slotStart, to: slotStart + 2 + 1_300, by: 7) {
      var changed = bytes
      changed[index] ^= mask
      try writeFile(machine.keyring, changed)
      #expect(opens(.recoveryCode(code)) != nil, "byte \(index)")
      #expect(opens(.machineKey(at: machine.machineKey)) == .damagedKeyring, "byte \(index)")
    }
  }

  @Test("slots that ask for more scrypt than one opening may cost are refused, before it is spent")
  func costBomb() throws {
    func slot(_ cost: Int) throws -> KeyringSlot {
      let known = try FactorSlot.new(
        wrapping: SecretBytes(random: 32), label: "x\(cost)", addedAt: 1,
        factors: [(SlotFactor(kind: .passphrase, cost: 0, name: ""), SecretBytes(random: 9))]
      ).slot.slot
      var body = known.body
      body[body.startIndex + 1 + "x\(cost)".utf8.count + 8 + 1 + 1] = UInt8(cost)
      return KeyringSlot(type: FactorSlot.type, body: body)
    }
    for cost in [21, 30, 64, 255] {
      let bomb = try slot(cost)
      try Keyring.rewrite(machine) { $0.slots = [$0.slots[0], bomb] }
      let duration = ContinuousClock().measure { #expect(opens(.passphrase("correct horse")) == .limitExceeded) }
      #expect(duration < .seconds(2))
      #expect(opens(.machineKey(at: machine.machineKey)) == nil)
    }
  }

  @Test("a label or name that no slot is given is damage, and is not shown")
  func unprintable() throws {
    for (label, name) in [("a\u{1B}[2J", ""), ("x", "../x"), ("x", "a\n")] {
      let slot = try FactorSlot.new(
        wrapping: SecretBytes(random: 32), label: label, addedAt: 1,
        factors: [(SlotFactor(kind: .credential, cost: 0, name: name), SecretBytes(random: 32))]
      ).slot.slot
      try Keyring.rewrite(machine) { $0.slots = [$0.slots[0], slot] }
      #expect(code { _ = try Keyring.slots(at: machine.keyring) } == .damagedKeyring)
      #expect(opens(.machineKey(at: machine.machineKey)) == .damagedKeyring)
      try FileManager.default.removeItem(atPath: machine.keyring)
      try Keyring.create(at: machine, contents: KeyringContents(identity: try newIdentity()))
    }
  }

  @Test("entries of newer versions are kept through changes")
  func entries() throws {
    let entry = KeyringEntry(tag: 1 << 40, bytes: SecretBytes(random: 300))
    try Keyring.update(at: machine) { $0.entries = [entry] }
    try Keyring.update(at: machine) { $0.databaseSalt = randomBytes(16) }
    #expect(try Keyring.open(at: machine).entries == [entry])
  }
}
