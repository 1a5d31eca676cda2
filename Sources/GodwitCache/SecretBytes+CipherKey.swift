import GodwitCrypto
import GodwitStorage

extension SecretBytes: CipherKey {
  package func withKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try withUnsafeBytes(body)
  }
}
