import COpenSSL

/// OpenSSL's own ChaCha20-Poly1305 over chunks of 64 KiB, each under a nonce of its own: what age's payload costs by
/// hand.
struct BareSealing: Sendable {
  /// OpenSSL refused, or a tag did not fit.
  struct Failure: Error {}

  static let chunkByteCount = 65_536
  private static let tagByteCount = 16

  private let key = [UInt8](repeating: 9, count: 32)

  /// Ciphertext and tag of each chunk, one after the other.
  func seal(_ plain: [UInt8]) throws -> [UInt8] {
    let count = (plain.count + Self.chunkByteCount - 1) / Self.chunkByteCount
    var sealed = [UInt8](repeating: 0, count: plain.count + count * Self.tagByteCount)
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    var place = 0
    for number in 0..<count {
      let start = number * Self.chunkByteCount
      let chunk = plain[start..<min(plain.count, start + Self.chunkByteCount)]
      var written: CInt = 0
      let isSealed = chunk.withUnsafeBufferPointer { chunk in
        sealed.withUnsafeMutableBufferPointer { sealed in
          guard let input = chunk.baseAddress, let output = sealed.baseAddress?.advanced(by: place) else {
            return false
          }
          return EVP_EncryptInit_ex(context, EVP_chacha20_poly1305(), nil, key, Self.nonce(number)) == 1
            && EVP_EncryptUpdate(context, output, &written, input, CInt(chunk.count)) == 1
            && EVP_EncryptFinal_ex(context, output + chunk.count, &written) == 1
            && EVP_CIPHER_CTX_ctrl(
              context, EVP_CTRL_AEAD_GET_TAG, CInt(Self.tagByteCount), output + chunk.count) == 1
        }
      }
      guard isSealed else { throw Failure() }
      place += chunk.count + Self.tagByteCount
    }
    return sealed
  }

  /// How many bytes of plaintext there are; each chunk's tag is compared.
  func open(_ sealed: [UInt8]) throws -> Int {
    var plain = [UInt8](repeating: 0, count: Self.chunkByteCount)
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    var (place, number, total) = (0, 0, 0)
    while place < sealed.count {
      let count = min(Self.chunkByteCount, sealed.count - place - Self.tagByteCount)
      var tag = Array(sealed[place + count..<place + count + Self.tagByteCount])
      var written: CInt = 0
      let isOpened = sealed.withUnsafeBufferPointer { sealed in
        guard let input = sealed.baseAddress?.advanced(by: place) else { return false }
        return EVP_DecryptInit_ex(context, EVP_chacha20_poly1305(), nil, key, Self.nonce(number)) == 1
          && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, CInt(Self.tagByteCount), &tag) == 1
          && EVP_DecryptUpdate(context, &plain, &written, input, CInt(count)) == 1
          && EVP_DecryptFinal_ex(context, &plain, &written) == 1
      }
      guard isOpened else { throw Failure() }
      place += count + Self.tagByteCount
      number += 1
      total += count
    }
    return total
  }

  private static func nonce(_ number: Int) -> [UInt8] {
    [0, 0, 0, 0] + withUnsafeBytes(of: UInt64(number).bigEndian, Array.init)
  }
}
