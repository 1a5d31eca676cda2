import Foundation

/// OpenSSL, which SQLCipher and libcurl call.
package enum CryptoLibrary {
  /// OPENSSL_INIT_NO_ATEXIT of openssl/crypto.h.
  private static let withoutCleanup: UInt64 = 0x0008_0000

  /// Keeps OpenSSL as it is while the process exits. It would register a handler (atexit(3)) that frees what its
  /// threads share, while threads that nobody waits for, a database's or a transfer's, still call it. The system frees
  /// all of it a moment later. To be read before the first call that reaches OpenSSL: where the host has called it
  /// before, and where another library is in its place, nothing changes.
  ///
  /// Source: OPENSSL_init_crypto(3).
  package static let staysUntilTheEnd: Void = {
    typealias Function = @convention(c) (UInt64, UnsafeRawPointer?) -> CInt
    // A null handle is RTLD_DEFAULT: what the program, or the library that this code is in, was loaded with.
    guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "OPENSSL_init_crypto") else { return }
    _ = unsafeBitCast(symbol, to: Function.self)(withoutCleanup, nil)
  }()
}
