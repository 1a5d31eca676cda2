import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore

/// An author's word on its own history: up to where one of its incarnations has written, and the hash chain there
/// (Specs/sync-file.md, "Signed heads"). Whoever passes the history on can keep some of it back, and change none.
package struct SignedHead: Equatable, Sendable {
  package let origin: Origin
  package let sequence: SequenceNumber
  package let chain: ContentHash
  /// Ed25519, 64 bytes. Not checked by decoding.
  package let signature: [UInt8]

  package init(origin: Origin, sequence: SequenceNumber, chain: ContentHash, signature: [UInt8]) {
    self.origin = origin
    self.sequence = sequence
    self.chain = chain
    self.signature = signature
  }

  package static let signatureByteCount = 64
  private static let domain = Array("godwit head v1\0".utf8)

  /// Signs what this identity's own replica has written.
  package static func issue(
    group: GroupID, _ origin: Origin, _ sequence: SequenceNumber, _ chain: ContentHash, by author: Identity
  ) throws -> SignedHead {
    SignedHead(
      origin: origin, sequence: sequence, chain: chain,
      signature: try author.sign(signedBytes(group, origin, sequence, chain)))
  }

  /// Whether the author signed it, with any key it has had: what it wrote before it replaced one stays its own.
  package func isSigned(by author: IdentityHistory, in group: GroupID) -> Bool {
    let message = Self.signedBytes(group, origin, sequence, chain)
    return author.replica == origin.replica
      && author.all.reversed().contains { $0.verifies(signature: signature, of: message) }
  }

  private static func signedBytes(
    _ group: GroupID, _ origin: Origin, _ sequence: SequenceNumber, _ chain: ContentHash
  ) -> [UInt8] {
    var writer = ByteWriter(capacity: 96)
    writer.raw(domain)
    group.value.write(to: &writer)
    origin.write(to: &writer)
    writer.bigEndian(sequence.rawValue)
    writer.raw(chain.bytes)
    return writer.bytes
  }
}

/// What shows that a signed head covers an origin's history up to some transaction: the digests of the transactions
/// from there to the head, of which the reader need not have any.
package struct HeadProof: Equatable, Sendable {
  /// Of the transactions behind the one that is proven, up to the head.
  package let ahead: [ContentHash]
  package let signature: [UInt8]

  package init(ahead: [ContentHash] = [], signature: [UInt8]) {
    self.ahead = ahead
    self.signature = signature
  }

  /// A head so far beyond what is held proves nothing of it (Specs/limits.md): no more of an origin waits.
  package static let aheadLimit = 16_384

  /// The head that this proves a history by which has this chain at `sequence`.
  package func head(of origin: Origin, _ sequence: SequenceNumber, _ chain: ContentHash) -> SignedHead {
    SignedHead(
      origin: origin, sequence: SequenceNumber(rawValue: sequence.rawValue + UInt64(ahead.count)),
      chain: ahead.reduce(chain) { $0.followed(by: $1) }, signature: signature)
  }
}

extension ContentHash {
  /// The hash chain behind a transaction, from the chain before it and the transaction's digest.
  package func followed(by digest: ContentHash) -> ContentHash {
    (bytes + digest.bytes).withUnsafeBytes { ContentHash(of: $0) }
  }
}

extension HeadProof {
  func write(to writer: inout ByteWriter) {
    writer.varint(ahead.count)
    for digest in ahead { writer.raw(digest.bytes) }
    writer.raw(signature)
  }

  init(reading reader: inout ByteReader) throws {
    let count = try reader.count(
      limit: min(Self.aheadLimit, reader.remaining / ContentHash.byteCount), "digests up to a signed head")
    ahead = try (0..<count).map { _ in try ContentHash(reading: &reader) }
    signature = Array(try reader.raw(SignedHead.signatureByteCount))
  }
}
