import GodwitBase
import GodwitCrypto

/// What a member says of a member, signed by itself (Specs/membership.md).
package protocol SignedRecord: Hashable, Sendable {
  var group: GroupID { get }
  /// Whom it is about.
  var subject: ReplicaID { get }
  /// When the issuer says it was issued, in milliseconds since 1970 UTC.
  var issuedAtMilliseconds: Int64 { get }
  var issuer: ReplicaID { get }
  /// Ed25519, 64 bytes. Not checked by decoding.
  var signature: [UInt8] { get }
  /// Comes before the signed fields, so that no signature over anything else fits a record.
  static var domain: [UInt8] { get }
  /// Writes all but the signature.
  func encodeFields(to writer: inout ByteWriter)
}

extension SignedRecord {
  package static var signatureByteCount: Int { 64 }

  /// Before this, in milliseconds since 1970 UTC, records are issued; those of a later time count for nobody, or one
  /// dated at the end of all numbers could not be overruled (Specs/membership.md, "Which records are held").
  package static var issuedBeforeMilliseconds: Int64 { 1 << 62 }
  /// Whether it was issued in time.
  package var isInTime: Bool { issuedAtMilliseconds < Self.issuedBeforeMilliseconds }

  package func encode(to writer: inout ByteWriter) {
    encodeFields(to: &writer)
    writer.raw(signature)
  }

  /// What the signature is over.
  package var signedBytes: [UInt8] {
    var writer = ByteWriter(capacity: 256)
    writer.raw(Self.domain)
    encodeFields(to: &writer)
    return writer.bytes
  }

  /// What other records call this one.
  package var hash: ContentHash {
    var writer = ByteWriter(capacity: 512)
    encode(to: &writer)
    return writer.bytes.withUnsafeBytes { ContentHash(of: $0) }
  }

  /// Whether this very identity issued it. Whether it may do so is the caller's question.
  package func isSigned(by issuer: PublicIdentity) -> Bool {
    issuer.replica == self.issuer && issuer.verifies(signature: signature, of: signedBytes)
  }
}

/// A record that counts by what its issuer is: it names the member record that makes its issuer a member
/// (Specs/membership.md, "What counts").
package protocol GroundedRecord: SignedRecord {
  /// The hash of the member record by which the issuer was a member when it issued this; nil for the founder's own.
  var ground: ContentHash? { get }
}

extension GroundedRecord {
  func encodeGround(to writer: inout ByteWriter) { writer.raw((ground ?? .zero).bytes) }

  static func readGround(_ reader: inout ByteReader) throws -> ContentHash? {
    let hash = try ContentHash(readingBytesOf: &reader)
    return hash == .zero ? nil : hash
  }
}

extension ContentHash {
  init(readingBytesOf reader: inout ByteReader) throws {
    guard let hash = ContentHash(bytes: try reader.raw(32)) else { throw ByteReader.malformed("a hash") }
    self = hash
  }
}
