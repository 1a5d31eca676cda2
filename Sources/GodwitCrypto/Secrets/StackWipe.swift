import Foundation

/// Computes with a private key, and then overwrites the stack that this took. BoringSSL wipes what it gives away, but
/// not what its functions leave on the stack: the scalar of X25519 with its bits set and cleared, which is as good as
/// the key, or the expanded seed of Ed25519 (crypto/curve25519/curve25519.cc, `e` and `az`).
package func wipingStack<Output>(_ compute: () throws -> Output) rethrows -> Output {
  // More than any of these functions takes; to overwrite it takes a few microseconds.
  defer { overwriteStack(frames: 64) }
  return try compute()
}

@inline(never)
private func overwriteStack(frames: Int) {
  withUnsafeTemporaryAllocation(byteCount: 1_024, alignment: 16) { frame in
    if let base = frame.baseAddress { explicit_bzero(base, frame.count) }
    if frames > 1 { overwriteStack(frames: frames - 1) }
  }
}
