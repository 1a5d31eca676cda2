import GodwitBase

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
  /// What the signature is over.
  var signedBytes: [UInt8] { get }
}

extension SignedRecord {
  /// Whether this very identity issued it. Whether it may do so is the caller's question.
  package func isSigned(by issuer: PublicIdentity) -> Bool {
    issuer.replica == self.issuer && issuer.verifies(signature: signature, of: signedBytes)
  }
}
