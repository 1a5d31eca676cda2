import Crypto
import Foundation

/// Seals and opens the payload's chunks: STREAM over ChaCha20-Poly1305 (C2SP age, section "Payload").
///
/// A chunk's nonce is its number, 11 bytes big-endian from zero, then 1 for the final chunk and 0 for the others.
package struct AgeChunkCipher: Sendable {
  package static let plainByteCountMax = 65_536
  package static let tagByteCount = 16
  static let sealedByteCountMax = plainByteCountMax + tagByteCount
  static let nonceByteCount = 12

  private let key: SymmetricKey

  init(key: SymmetricKey) { self.key = key }

  /// Ciphertext and tag of a chunk. The caller uses each number once.
  func seal(_ plain: UnsafeRawBufferPointer, number: UInt64, isFinal: Bool) throws -> Data {
    let nonce = try ChaChaPoly.Nonce(data: Self.nonceBytes(number, isFinal))
    return try ChaChaPoly.seal(plain, using: key, nonce: nonce).combined.dropFirst(Self.nonceByteCount)
  }

  /// The plaintext of a chunk, or nil when its tag does not fit.
  ///
  /// The buffer is 12 bytes to be overwritten by the nonce, then ciphertext and tag; so it goes to swift-crypto whole
  /// and uncopied.
  func open(_ buffer: UnsafeMutableRawBufferPointer, number: UInt64, isFinal: Bool) -> Data? {
    guard let base = buffer.baseAddress else { return nil }
    buffer.copyBytes(from: Self.nonceBytes(number, isFinal))
    let sealed = Data(bytesNoCopy: base, count: buffer.count, deallocator: .none)
    guard let box = try? ChaChaPoly.SealedBox(combined: sealed) else { return nil }
    return try? ChaChaPoly.open(box, using: key)
  }

  private static func nonceBytes(_ number: UInt64, _ isFinal: Bool) -> [UInt8] {
    [0, 0, 0] + withUnsafeBytes(of: number.bigEndian, Array.init) + [isFinal ? 1 : 0]
  }
}
