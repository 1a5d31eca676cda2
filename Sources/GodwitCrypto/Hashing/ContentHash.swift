import GodwitBase

/// A SHA-256 hash (FIPS 180-4), 32 bytes.
package struct ContentHash: Hashable, Sendable, CustomStringConvertible {
  /// The size of a hash.
  package static let byteCount = 32
  /// 32 zero bytes, standing for "nothing before this".
  package static let zero = ContentHash(words: (0, 0, 0, 0))

  private let first: UInt64
  private let second: UInt64
  private let third: UInt64
  private let fourth: UInt64

  private init(words: (UInt64, UInt64, UInt64, UInt64)) {
    (first, second, third, fourth) = words
  }

  /// Nil unless there are exactly 32 bytes.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
    self.init(words: words)
  }

  /// The 32 bytes in the order SHA-256 gives them.
  package var bytes: [UInt8] {
    withUnsafeBytes(of: (first, second, third, fourth)) { Array($0) }
  }

  /// 64 lower-case hexadecimal digits.
  package var hexadecimal: String { Hexadecimal.encode(bytes) }

  package var description: String { hexadecimal }
}
