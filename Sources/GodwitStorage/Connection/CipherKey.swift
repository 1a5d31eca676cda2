/// A 256-bit database key that shows its bytes only for the length of a call.
package protocol CipherKey: Sendable {
  func withKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result
}
