import Crypto
import Foundation

/// A secret of fixed size that is zeroed when the last reference goes, and that no description shows.
package final class SecretBytes: Sendable {
  /// Written only during initialization and deinitialization, so sharing it between threads is safe.
  nonisolated(unsafe) private let storage: UnsafeMutableRawBufferPointer

  /// `count` bytes from the system's random number generator.
  package init(random count: Int) {
    storage = .allocate(byteCount: count, alignment: 16)
    var generator = SystemRandomNumberGenerator()
    for start in stride(from: 0, to: count, by: 8) {
      Swift.withUnsafeBytes(of: generator.next()) { word in
        UnsafeMutableRawBufferPointer(rebasing: storage[start...]).copyBytes(from: word.prefix(count - start))
      }
    }
  }

  /// A copy; the caller wipes what it copied from.
  package init(copying bytes: some Collection<UInt8>) {
    storage = .allocate(byteCount: bytes.count, alignment: 16)
    storage.copyBytes(from: bytes)
  }

  deinit {
    if let base = storage.baseAddress { explicit_bzero(base, storage.count) }
    storage.deallocate()
  }

  package var count: Int { storage.count }

  /// Lends the bytes for the time of the call; they must not be copied to where nothing wipes them.
  package func withUnsafeBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
    try body(UnsafeRawBufferPointer(storage))
  }

  /// The secret as a key of swift-crypto, which wipes its own copy.
  var symmetricKey: SymmetricKey { withUnsafeBytes { SymmetricKey(data: $0) } }
}

extension SecretBytes: Equatable {
  /// Takes the same time wherever the bytes differ.
  package static func == (left: SecretBytes, right: SecretBytes) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left.storage, right.storage).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "<\(count) secret bytes>" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension [UInt8] {
  /// Zeroes the array in place when nothing else refers to its storage.
  package mutating func wipe() {
    withUnsafeMutableBytes { buffer in
      if let base = buffer.baseAddress { explicit_bzero(base, buffer.count) }
    }
  }
}

extension Data {
  /// Zeroes the data in place when nothing else refers to its storage.
  package mutating func wipe() { resetBytes(in: startIndex..<endIndex) }
}
