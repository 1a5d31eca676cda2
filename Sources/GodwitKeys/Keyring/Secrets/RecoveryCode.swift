import GodwitBase
import GodwitCrypto

/// A secret for paper: 16 random bytes as eight groups of four characters, the last six of which are a checksum
/// (Specs/keyring.md, section "Recovery codes"). It has no 1, B, I or O, and case does not matter.
package struct RecoveryCode: Sendable {
  static let byteCount = 16
  private static let prefix = "GODWIT-RECOVERY-"
  private static let groupLength = 4
  private static let length = 32

  let secret: SecretBytes

  /// A new one.
  package init() { secret = SecretBytes(random: Self.byteCount) }

  /// Reads a code as a person types it: spaces and hyphens anywhere, either case.
  ///
  /// Throws `invalidKey` for a code of another length or with a mistake, and names the group when a single character is
  /// wrong.
  package init(_ text: [UInt8]) throws {
    // Neither grown nor made from another array: the room of one that is given back is not wiped.
    var characters: [UInt8] = []
    characters.reserveCapacity(text.count)
    for character in text where character != UInt8(ascii: "-") && !AgeArmor.isSpace(character) {
      characters.append(Self.upper(character))
    }
    defer { characters.wipe() }
    guard characters.count == Self.length else {
      throw GodwitError(
        .invalidKey, "a recovery code has \(Self.length) letters and digits, this one \(characters.count)")
    }
    if let secret = Self.decode(characters) {
      self.secret = secret
      return
    }
    let hint = Self.likelyMistake(characters).map { "look at group \($0 / Self.groupLength + 1) again" }
    throw GodwitError(.invalidKey, "the recovery code has a mistake", hint: hint ?? "look at each group again")
  }

  /// The groups with a hyphen between.
  package func exportSecretText() -> String {
    let text = secret.withUnsafeBytes { Bech32.encode(prefix: Self.prefix, data: $0) }.dropFirst(Self.prefix.count + 1)
    return stride(from: 0, to: Self.length, by: Self.groupLength).map { start in
      String(decoding: text.dropFirst(start).prefix(Self.groupLength), as: UTF8.self)
    }.joined(separator: "-")
  }

  private static func decode(_ characters: [UInt8]) -> SecretBytes? {
    var text: [UInt8] = []
    text.reserveCapacity(prefix.utf8.count + 1 + characters.count)
    text += "\(prefix)1".utf8
    text += characters
    defer { text.wipe() }
    guard var decoded = try? Bech32.decode(text, what: "the recovery code") else { return nil }
    defer { decoded.data.wipe() }
    return decoded.prefix == prefix && decoded.data.count == byteCount ? SecretBytes(copying: decoded.data) : nil
  }

  /// Where one other character would make the code whole. Which one is not said: a person reads it again.
  private static func likelyMistake(_ characters: [UInt8]) -> Int? {
    for index in characters.indices {
      for character in Array("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".utf8) {
        var changed = characters
        defer { changed.wipe() }
        changed[index] = character
        if decode(changed) != nil { return index }
      }
    }
    return nil
  }

  private static func upper(_ character: UInt8) -> UInt8 {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character) ? character & ~32 : character
  }
}
