import GodwitBase

/// Refuses public keys that a curve library accepts and that protect nothing.
///
/// With a point of small order, every X25519 secret is all zero (RFC 7748, section 6.1) and an Ed25519
/// signature can be made to fit any message. A coordinate at or above the field's prime 2^255 − 19 is a second
/// name for a key, so it is refused as well. Both checks look at public bytes only.
package enum PublicKeyCheck {
  /// Throws `invalidKey` unless the bytes are a canonical X25519 u-coordinate outside the small subgroup.
  static func requireSafeX25519(_ key: [UInt8]) throws(GodwitError) {
    guard key.count == 32, isCanonical(key) else { throw malformed("an X25519 key") }
    guard !smallOrderU.contains(key) else { throw weak("an X25519 key") }
  }

  /// Throws `invalidKey` unless the bytes are an Ed25519 key with a canonical y-coordinate outside the small subgroup.
  package static func requireSafeEd25519(_ key: [UInt8]) throws(GodwitError) {
    var y = key
    if y.count == 32 { y[31] &= 0x7F }  // the sign of x
    guard y.count == 32, isCanonical(y) else { throw malformed("an Ed25519 key") }
    guard !smallOrderY.contains(y) else { throw weak("an Ed25519 key") }
  }

  /// Whether the little-endian number is below 2^255 − 19.
  private static func isCanonical(_ bytes: [UInt8]) -> Bool {
    guard bytes[31] <= 0x7F else { return false }
    guard bytes[31] == 0x7F, bytes[1..<31].allSatisfy({ $0 == 0xFF }) else { return true }
    return bytes[0] < 0xED
  }

  /// 0, 1 and p − 1 are common to both curve forms.
  private static let zero = [UInt8](repeating: 0, count: 32)
  private static let one = [1] + [UInt8](repeating: 0, count: 31)
  private static let minusOne = [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]

  /// The u-coordinates of small order on Curve25519 and its twist; the other two are of order 8.
  private static let smallOrderU: Set<[UInt8]> = [
    zero, one, minusOne,
    [
      0xE0, 0xEB, 0x7A, 0x7C, 0x3B, 0x41, 0xB8, 0xAE, 0x16, 0x56, 0xE3, 0xFA, 0xF1, 0x9F, 0xC4, 0x6A,
      0xDA, 0x09, 0x8D, 0xEB, 0x9C, 0x32, 0xB1, 0xFD, 0x86, 0x62, 0x05, 0x16, 0x5F, 0x49, 0xB8, 0x00,
    ],
    [
      0x5F, 0x9C, 0x95, 0xBC, 0xA3, 0x50, 0x8C, 0x24, 0xB1, 0xD0, 0xB1, 0x55, 0x9C, 0x83, 0xEF, 0x5B,
      0x04, 0x44, 0x5C, 0xC4, 0x58, 0x1C, 0x8E, 0x86, 0xD8, 0x22, 0x4E, 0xDD, 0xD0, 0x9F, 0x11, 0x57,
    ],
  ]

  /// The y-coordinates of the eight torsion points of edwards25519; the last two are of order 8.
  private static let smallOrderY: Set<[UInt8]> = [
    zero, one, minusOne,
    [
      0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0,
      0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
    ],
    [
      0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F,
      0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
    ],
  ]

  private static func malformed(_ what: String) -> GodwitError {
    GodwitError(.invalidKey, "\(what) is malformed", hint: "copy the identity again from the replica that owns it")
  }

  private static func weak(_ what: String) -> GodwitError {
    GodwitError(.invalidKey, "\(what) is of small order and would protect nothing", hint: "do not trust its sender")
  }
}
