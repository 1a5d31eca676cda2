import GodwitBase
import GodwitCrypto
import GodwitKeys

/// Everything of a container up to some place, and what is signed there (Specs/sync-file.md, "Signatures").
///
/// It begins with the binding of the age file, so that no signature fits another file, and continues through every
/// byte, the signatures included: each one is over all before it.
package struct SyncFileTranscript {
  /// Where a signature stands. Each has a domain of its own, so that none can take another's place.
  package enum Place: String {
    case preamble
    case part
    case trailer

    fileprivate var domain: [UInt8] { Array("godwit sync file \(rawValue) v2\0".utf8) }
  }

  private var hasher = ContentHasher()

  package init(_ binding: ContentHash) { hasher.update(binding.bytes) }

  package mutating func add(_ bytes: [UInt8]) { hasher.update(bytes) }

  /// What a signature at this place is over.
  package func message(at place: Place) -> [UInt8] { place.domain + hasher.finalize().bytes }
}
