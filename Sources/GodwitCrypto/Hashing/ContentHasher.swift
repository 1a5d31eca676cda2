import Crypto

/// Computes a ``ContentHash`` (SHA-256) over bytes that come piece by piece.
package struct ContentHasher: Sendable {
  private var state = SHA256()

  package init() {}

  package mutating func update(_ buffer: UnsafeRawBufferPointer) { state.update(bufferPointer: buffer) }

  package mutating func update(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { state.update(bufferPointer: $0) }
  }

  /// The hash of everything so far; more can be added afterwards.
  package func finalize() -> ContentHash {
    state.finalize().withUnsafeBytes { ContentHash(bytes: $0) } ?? .zero
  }
}

extension ContentHash {
  /// The hash of these bytes.
  package init(of bytes: UnsafeRawBufferPointer) {
    var hasher = ContentHasher()
    hasher.update(bytes)
    self = hasher.finalize()
  }
}
