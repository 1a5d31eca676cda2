import Crypto
import Foundation

/// Seals and opens the payload chunk by chunk: STREAM over ChaCha20-Poly1305 (C2SP age, section "Payload").
///
/// A chunk's nonce is its number, 11 bytes big-endian from zero, then 1 for the final chunk and 0 for the others.
struct AgeChunkCipher {
  static let plainByteCountMax = 65_536
  static let tagByteCount = 16
  static let sealedByteCountMax = plainByteCountMax + tagByteCount
  static let nonceByteCount = 12

  private let key: SymmetricKey
  /// How many chunks came before; 2^64 of them are out of reach.
  private(set) var chunkIndex: UInt64 = 0

  init(key: SymmetricKey) { self.key = key }

  /// Ciphertext and tag of the next chunk. The number advances even when sealing fails, so no nonce comes twice.
  mutating func seal(_ plain: UnsafeRawBufferPointer, isFinal: Bool) throws -> Data {
    let nonce = try ChaChaPoly.Nonce(data: nonceBytes(isFinal: isFinal))
    chunkIndex += 1
    return try ChaChaPoly.seal(plain, using: key, nonce: nonce).combined.dropFirst(Self.nonceByteCount)
  }

  /// The plaintext of the next chunk, or nil when its tag does not fit.
  ///
  /// The buffer is 12 bytes to be overwritten by the nonce, then ciphertext and tag; so it goes to swift-crypto whole.
  func open(_ buffer: UnsafeMutableRawBufferPointer, isFinal: Bool) -> Data? {
    buffer.copyBytes(from: nonceBytes(isFinal: isFinal))
    guard let box = try? ChaChaPoly.SealedBox(combined: UnsafeRawBufferPointer(buffer)) else { return nil }
    return try? ChaChaPoly.open(box, using: key)
  }

  mutating func advance() { chunkIndex += 1 }

  private func nonceBytes(isFinal: Bool) -> [UInt8] {
    [0, 0, 0] + withUnsafeBytes(of: chunkIndex.bigEndian, Array.init) + [isFinal ? 1 : 0]
  }
}
