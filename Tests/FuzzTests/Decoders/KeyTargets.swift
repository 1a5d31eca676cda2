import GodwitBase
import GodwitCore

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

extension FuzzTarget {
  static let keyTargets = [keyring, keyringBody, invitation, keyText, anchor, backupFooter]

  /// The keyring file and its slots, before any key is at hand.
  static let keyring = FuzzTarget(name: "keyring") { bytes in
    let file = try KeyringFile(parsing: bytes)
    try require(file.bytes == bytes, "a keyring that is written again differs")
    _ = try unlessRefused { try file.contents(masterKey: FuzzKeys.passphrase) }
    let descriptions = try file.slotDescriptions()
    try require(
      descriptions.map(\.number) == Array(descriptions.indices).map { $0 + 1 }, "slots are numbered otherwise")
    for slot in file.slots {
      guard let known = try file.factorSlot(slot) else { continue }
      try require(known.slot == slot, "a slot that is written again differs")
      // Stretching costs what the slot says; opening it with a key that is there costs nothing.
      _ = try known.masterKey(unlockedBy: [FuzzKeys.passphrase])
    }
  } starts: {
    try KeyStarts.keyrings()
  }

  /// What a keyring holds, as it comes out of its seal. It has one form.
  static let keyringBody = FuzzTarget(name: "keyring-body") { bytes in
    let contents = try KeyringContents(decoding: bytes)
    try require(try contents.encoded() == bytes, "a body that is written again differs")
    _ = try unlessRefused { try contents.pendingDatabase }
  } starts: {
    try KeyStarts.contents().mapValues { try $0.encoded() }
  }

  /// An invitation as it comes out of the age layer, without its signature, which the inviter puts there.
  static let invitation = FuzzTarget(name: "invitation") { bytes in
    let (inviter, invited) = try (FuzzKeys.identity(1), FuzzKeys.identity(2))
    let signature = try inviter.sign(Array("godwit invitation v1\0".utf8) + bytes)
    let invitation = try Invitation(opening: sealed(bytes + signature, to: [invited]), with: invited)
    let again = try invitation.seal(to: invited.publicIdentity.recipient, signedBy: inviter)
    let content = try drain(AgeOpener(MemorySource(again), identities: [invited.ageIdentity]))
    try require(content.dropLast(signature.count).elementsEqual(bytes), "an invitation that is written again differs")
    let roster = try invitation.roster(for: invited)
    try require(try roster.sender(inviter.replica).identity == inviter.publicIdentity, "a roster without the inviter")
  } starts: {
    let (inviter, invited) = try (FuzzKeys.identity(1), FuzzKeys.identity(2))
    let members = try [FuzzKeys.record(1), FuzzKeys.record(2)]
    let rosters = [
      "two": RosterRecords(members: members), "founder": RosterRecords(members: [members[0]]), "none": RosterRecords(),
      "renamed": try FuzzKeys.roster(),
    ]
    return try rosters.mapValues { records in
      let invitation = Invitation(group: FuzzKeys.group, inviter: inviter.publicIdentity, records: records)
      let file = try invitation.seal(to: invited.publicIdentity.recipient, signedBy: inviter)
      return try drain(AgeOpener(MemorySource(file), identities: [invited.ageIdentity])).dropLast(64)
    }
  }

  /// Keys as people copy them: identities, recipients, recovery codes. The first byte says which, and whether the rest
  /// is the text or what a checksum is put under.
  static let keyText = FuzzTarget(name: "key-text") { bytes in
    var choices = FuzzChoices(bytes)
    let choice = choices.byte()
    let prefixes = ["godwit", "age", "age1pq", "AGE-SECRET-KEY-", "AGE-SECRET-KEY-PQ-", "GODWIT-RECOVERY-"]
    let prefix = prefixes[Int(choice >> 1) % prefixes.count]
    let bytes = choice & 1 == 0 ? Array(choices.rest) : Bech32.encode(prefix: prefix, data: choices.rest)
    let text = String(decoding: bytes, as: UTF8.self)
    if let found = try unlessRefused({ try Bech32.decode(bytes, what: "it") }) {
      let again = Bech32.encode(prefix: found.prefix, data: found.data)
      try require(again == bytes || found.prefix == found.prefix.lowercased(), "a text that is written again differs")
    }
    if let identity = try unlessRefused({ try PublicIdentity(text) }) {
      try require(identity.description == text.lowercased(), "an identity that is written again differs")
      try require(try PublicIdentity(identity.description) == identity, "an identity has two meanings")
      try require(identity.fingerprint.utf8.count == 24, "a fingerprint of another length")
    }
    if let recipient = try unlessRefused({ try AgeRecipient(text) }) {
      try require(recipient.text == text.lowercased(), "a recipient that is written again differs")
    }
    if let identity = try unlessRefused({ try AgeIdentity(text) }) {
      try require(identity.exportSecretText() == text.uppercased(), "a private key that is written again differs")
    }
    if let code = try unlessRefused({ try RecoveryCode(bytes) }) {
      let again = try RecoveryCode(Array(code.exportSecretText().utf8))
      try require(again.secret == code.secret, "a recovery code that is written again differs")
    }
  } starts: {
    var starts: [String: [UInt8]] = [:]
    for (name, kind) in [("classical", AgeKeyKind.x25519), ("hybrid", .hybrid)] {
      let identity = try FuzzKeys.identity(1, kind)
      starts["identity-\(name)"] = [0] + Array(identity.publicIdentity.description.utf8)
      starts["recipient-\(name)"] = [0] + Array(identity.publicIdentity.ageRecipient.utf8)
      starts["secret-\(name)"] = [0] + Array(identity.ageIdentity.exportSecretText().utf8)
    }
    starts["code"] = [11] + [UInt8](repeating: 7, count: 16)
    starts["binary"] = [1, 1] + [UInt8](repeating: 3, count: 80)
    return starts
  }

  /// What is kept of a database beside its keyring. The input lacks the hash at its end, which is put there.
  static let anchor = FuzzTarget(name: "anchor") { bytes in
    let hash = bytes.withUnsafeBytes { ContentHash(of: $0) }.bytes
    guard let anchor = Anchor(bytes + hash, at: KeyStarts.place, on: .zero) else { return }
    let again = anchor.bytes(at: KeyStarts.place, on: .zero)
    try require(Anchor(again, at: KeyStarts.place, on: .zero) == anchor, "an anchor that is written again differs")
  } starts: {
    let anchor = Anchor(nonces: [.none, .none], incarnation: 3, exported: SequenceNumber(rawValue: 9))
    var noted = anchor
    (noted.statedAt, noted.alteredAt) = (1_700_000_000_000, 1)
    noted.state = AnchoredState(chains: .zero, state: StatedState(schema: 1, hash: .zero))
    return [
      "noted": noted.bytes(at: KeyStarts.place, on: .zero).dropLast(ContentHash.byteCount),
      "two": anchor.bytes(at: KeyStarts.place, on: .zero).dropLast(ContentHash.byteCount),
    ]
  }

  /// The end of a backup, behind 5 bytes that say how large the file is. It has one form.
  static let backupFooter = FuzzTarget(name: "backup-footer") { bytes in
    var choices = FuzzChoices(bytes)
    let fileByteCount = choices.number(5)
    let footer = try BackupFooter(Array(choices.rest), fileByteCount: fileByteCount)
    var writer = ByteWriter()
    footer.writeStart(to: &writer)
    try require(writer.bytes + footer.hash.bytes == Array(choices.rest), "a footer that is written again differs")
    let parts = footer.databaseByteCount + footer.keyringByteCount + footer.paddingByteCount + BackupFooter.byteCount
    try require(parts == fileByteCount, "the parts of a backup are not the whole")
  } starts: {
    let sizes = ["small": (1, 800), "large": (90_000, 5_000), "full": (2, 4_096 - BackupFooter.byteCount)]
    return sizes.mapValues { pages, keyring in
      let footer = BackupFooter(databaseByteCount: pages * 4_096, keyringByteCount: keyring, hash: .zero)
      let rest = keyring + footer.paddingByteCount + BackupFooter.byteCount
      var writer = ByteWriter()
      writer.raw(withUnsafeBytes(of: UInt64(pages * 4_096 + rest).bigEndian) { Array($0.suffix(5)) })
      footer.writeStart(to: &writer)
      writer.raw(footer.hash.bytes)
      return writer.bytes
    }
  }
}
