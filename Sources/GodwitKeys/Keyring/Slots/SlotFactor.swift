import Crypto
import GodwitBase
import GodwitCrypto

/// One of the secrets that a slot needs, without the secret itself (Specs/keyring.md, section "Factors").
package struct SlotFactor: Hashable, Sendable {
  /// Where a secret comes from.
  package enum Kind: UInt8, Hashable, Sendable {
    /// The machine key file.
    case machineKey = 1
    /// Something a person knows.
    case passphrase = 2
    /// A file that systemd hands to a service.
    case credential = 3
    /// What a program of the user's prints.
    case command = 4
    /// A code on paper.
    case recoveryCode = 5
  }

  package let kind: Kind
  /// 2^cost KiB of scrypt, or 0 for a secret that is random already.
  package let cost: Int
  /// The credential's name; empty for other kinds.
  package let name: String
  private let salt: [UInt8]

  private static let saltByteCount = 16
  private static let label = Array("godwit keyring v1 factor".utf8)

  /// A new factor with a salt of its own.
  init(kind: Kind, cost: Int, name: String) {
    self.kind = kind
    self.cost = cost
    self.name = name
    salt = SecretBytes(random: Self.saltByteCount).withUnsafeBytes(Array.init)
  }

  /// 32 bytes. Throws `limitExceeded` for a cost beyond ``Scrypt/costMax``.
  func key(_ secret: SecretBytes) throws -> SecretBytes {
    let salt = Self.label + [kind.rawValue] + salt
    guard cost == 0 else { return try Scrypt.key(secret, salt: salt, cost: cost).secretBytes }
    return secret.expanded(salt: salt, info: []).secretBytes
  }

  func encode(to writer: inout ByteWriter) {
    writer.byte(kind.rawValue)
    writer.byte(UInt8(cost))
    writer.raw(salt)
    writer.string(name)
  }

  /// Nil for a kind that is not known here.
  init?(reading reader: inout ByteReader) throws {
    let kind = Kind(rawValue: try reader.byte())
    cost = Int(try reader.byte())
    salt = Array(try reader.raw(Self.saltByteCount))
    name = try reader.string(limit: CredentialFile.nameByteCountMax)
    guard name.isEmpty || CredentialFile.isAcceptable(name) else {
      throw ByteReader.malformed("a credential's name is no file's name")
    }
    guard let kind else { return nil }
    self.kind = kind
  }
}

extension SymmetricKey {
  /// A copy that is wiped like other secrets.
  var secretBytes: SecretBytes { withUnsafeBytes { SecretBytes(copying: $0) } }
}
