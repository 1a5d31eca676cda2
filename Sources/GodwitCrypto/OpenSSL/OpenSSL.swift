import COpenSSL
import Crypto
import GodwitBase
import GodwitFiles

/// What swift-crypto leaves to libcrypto, which SQLCipher calls, too: deriving keys from passphrases, and CBC.
enum OpenSSL {
  /// scrypt (RFC 7914; EVP_PBE_scrypt(3)) with blocks of 1 KiB, one after another: 32 bytes.
  ///
  /// - Parameter cost: The memory is 1 KiB times 2 to the power of this, from 1 to 24.
  /// - Throws: `limitExceeded` where there is no such memory.
  static func scrypt(_ secret: SecretBytes, salt: [UInt8], cost: Int) throws(GodwitError) -> SymmetricKey {
    let (blockSize, rounds) = (UInt64(8), UInt64(1) << UInt64(cost))
    // The blocks, and those that are worked on.
    let memory = 128 * blockSize * (rounds + 8)
    let key = key { key, count in
      secret.withUnsafeBytes {
        EVP_PBE_scrypt($0.characters, $0.count, salt, salt.count, rounds, blockSize, 1, memory, key, count)
      }
    }
    guard let key else {
      throw GodwitError(.limitExceeded, "there is not enough memory for the passphrase's cost of 2^\(cost) KiB")
    }
    return key
  }

  /// PBKDF2 (RFC 8018; PKCS5_PBKDF2_HMAC(3)): 32 bytes.
  ///
  /// - Throws: `invalidArgument` where libcrypto refuses its arguments.
  static func pbkdf2(
    _ secret: SymmetricKey, salt: [UInt8], rounds: Int, usesSHA512: Bool
  ) throws(GodwitError) -> SymmetricKey {
    let digest = usesSHA512 ? EVP_sha512() : EVP_sha1()
    let key = key { key, count in
      secret.withUnsafeBytes {
        PKCS5_PBKDF2_HMAC(
          $0.characters, Int32(clamping: $0.count), salt, Int32(clamping: salt.count), Int32(clamping: rounds), digest,
          Int32(clamping: count), key)
      }
    }
    guard let key else { throw GodwitError(.invalidArgument, "libcrypto derives no key from this") }
    return key
  }

  /// AES-256 in CBC mode without padding (EVP_CIPHER_CTX_set_padding(3)).
  ///
  /// - Parameter bytes: Whole blocks of 16 bytes.
  /// - Throws: `damagedDatabase` for anything else.
  static func cbc(
    _ bytes: ArraySlice<UInt8>, key: SymmetricKey, iv: ArraySlice<UInt8>, isSealing: Bool
  ) throws(GodwitError) -> [UInt8] {
    _ = CryptoLibrary.staysUntilTheEnd
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    let (bytes, iv) = (Array(bytes), Array(iv))
    var count: Int32 = 0
    var isDone = false
    let output = [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, length in
      let isReady = key.withUnsafeBytes { key in
        key.count == 32 && iv.count == 16
          && EVP_CipherInit_ex(
            context, EVP_aes_256_cbc(), nil, key.bindMemory(to: UInt8.self).baseAddress, iv, isSealing ? 1 : 0) == 1
      }
      isDone =
        isReady && bytes.count % 16 == 0 && EVP_CIPHER_CTX_set_padding(context, 0) == 1
        && EVP_CipherUpdate(context, buffer.baseAddress, &count, bytes, Int32(clamping: bytes.count)) == 1
        && count == bytes.count
      length = isDone ? bytes.count : 0
    }
    guard isDone else { throw GodwitError(.damagedDatabase, "a page is no whole blocks of AES") }
    return output
  }

  /// A key of 32 bytes, once a function of libcrypto's has said that it has made one.
  private static func key(_ make: (_ key: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int32) -> SymmetricKey? {
    _ = CryptoLibrary.staysUntilTheEnd
    var bytes = [UInt8](repeating: 0, count: 32)
    defer { bytes.wipe() }
    let isMade = bytes.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.map { make($0, buffer.count) == 1 } ?? false
    }
    return isMade ? SymmetricKey(data: bytes) : nil
  }
}

extension UnsafeRawBufferPointer {
  /// As C's functions take a passphrase.
  fileprivate var characters: UnsafePointer<CChar>? { bindMemory(to: CChar.self).baseAddress }
}
