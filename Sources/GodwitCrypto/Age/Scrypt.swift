import Crypto
import GodwitBase

/// scrypt (RFC 7914) with r = 8 and p = 1, whose memory is 1 KiB times 2 to the power of the cost.
package enum Scrypt {
  /// What a new passphrase costs: 128 MiB and some tenths of a second.
  package static let costDefault = 17
  /// What a reader pays at most: 1 GiB and some seconds. A file that asks for more is refused before any is allocated.
  package static let costMax = 20

  /// 32 bytes. Throws `limitExceeded` for a cost beyond ``costMax``, `invalidArgument` for one below 1.
  package static func key(_ secret: SecretBytes, salt: [UInt8], cost: Int, costMax: Int = Self.costMax) throws
    -> SymmetricKey
  {
    guard cost >= 1 else { throw GodwitError(.invalidArgument, "a passphrase's cost is at least 1") }
    guard cost <= min(costMax, 24) else {
      throw GodwitError(
        .limitExceeded, "the passphrase's cost of 2^\(cost) is beyond the limit of 2^\(costMax)",
        hint: "do not open what asks for so much memory, unless you made it yourself")
    }
    return try OpenSSL.scrypt(secret, salt: salt, cost: cost)
  }
}
