import GodwitBase

/// A replica's public identities: the first one, and those that followed, each signed by the one before it and by
/// itself (Specs/membership.md, "Replacing an identity").
package struct IdentityHistory: Hashable, Sendable {
  /// An identity that took another one's place.
  package struct Successor: Hashable, Sendable {
    package let identity: PublicIdentity
    /// When its maker says so, in milliseconds since 1970 UTC.
    package let issuedAtMilliseconds: Int64
    /// Ed25519, 64 bytes, by the key before. Not checked by decoding.
    let signatureBefore: [UInt8]
    /// The same by the new key, so that nobody takes another's for their own.
    let signature: [UInt8]
  }

  package let first: PublicIdentity
  package private(set) var successors: [Successor]

  package static let successorCountMax = 32

  /// An identity that has replaced none.
  package init(_ first: PublicIdentity) {
    self.first = first
    successors = []
  }

  package var replica: ReplicaID { first.replica }
  /// The one that is in force.
  package var current: PublicIdentity { successors.last?.identity ?? first }
  /// All of them, in order.
  package var all: [PublicIdentity] { [first] + successors.map(\.identity) }

  /// Lets a new identity follow the present one.
  ///
  /// Throws `limitExceeded` when it has had too many, `invalidArgument` for an identity that cannot follow.
  package mutating func append(
    _ next: Identity, after present: Identity, group: GroupID, at milliseconds: Int64
  ) throws {
    guard successors.count < Self.successorCountMax else {
      throw GodwitError(
        .limitExceeded, "an identity can be replaced \(Self.successorCountMax) times",
        hint: "join the group anew from an empty folder, and have this replica removed")
    }
    let signedBytes = Self.signedBytes(group, present.publicIdentity, next.publicIdentity, milliseconds)
    let successor = Successor(
      identity: next.publicIdentity, issuedAtMilliseconds: milliseconds,
      signatureBefore: try present.sign(signedBytes), signature: try next.sign(signedBytes))
    guard present.publicIdentity == current, follows(successor, group) else {
      throw GodwitError(.invalidArgument, "this identity cannot follow the present one")
    }
    successors.append(successor)
  }

  /// Continues as another copy of the same replica's history does, when every signature up to there fits; returns
  /// whether anything was new.
  package mutating func extend(by other: IdentityHistory, group: GroupID) -> Bool {
    guard let place = other.all.firstIndex(of: current) else { return false }
    var longer = self
    for successor in other.successors[place...] {
      guard longer.successors.count < Self.successorCountMax, longer.follows(successor, group) else { break }
      longer.successors.append(successor)
    }
    defer { self = longer }
    return longer.successors.count > successors.count
  }

  /// Whether each successor follows the one before.
  package func isSound(in group: GroupID) -> Bool {
    var proven = IdentityHistory(first)
    for successor in successors {
      guard proven.follows(successor, group) else { return false }
      proven.successors.append(successor)
    }
    return true
  }

  private func follows(_ successor: Successor, _ group: GroupID) -> Bool {
    let next = successor.identity
    let signedBytes = Self.signedBytes(group, current, next, successor.issuedAtMilliseconds)
    return next.replica == replica && next.isPostQuantum == first.isPostQuantum
      && !all.contains { $0.recipient == next.recipient || $0.verificationKey == next.verificationKey }
      && current.verifies(signature: successor.signatureBefore, of: signedBytes)
      && next.verifies(signature: successor.signature, of: signedBytes)
  }
}

extension IdentityHistory {
  private static let signatureByteCount = 64
  /// Comes before the signed fields, so that no signature over anything else fits.
  private static let domain = Array("godwit successor v1\0".utf8)

  private static func signedBytes(
    _ group: GroupID, _ before: PublicIdentity, _ next: PublicIdentity, _ milliseconds: Int64
  ) -> [UInt8] {
    var writer = ByteWriter(capacity: 64 + before.byteCount + next.byteCount)
    writer.raw(domain)
    group.value.write(to: &writer)
    before.encode(to: &writer)
    next.encode(to: &writer)
    writer.bigEndian(milliseconds)
    return writer.bytes
  }

  /// Of a history with successors.
  package func encode(to writer: inout ByteWriter) {
    first.encode(to: &writer)
    writer.varint(successors.count)
    for successor in successors {
      successor.identity.encode(to: &writer)
      writer.bigEndian(successor.issuedAtMilliseconds)
      writer.raw(successor.signatureBefore)
      writer.raw(successor.signature)
    }
  }

  /// Throws `unsupportedVersion`, `truncatedFile`, `corruptFile`, `limitExceeded`, or `invalidKey` for unsafe keys.
  package init(reading reader: inout ByteReader) throws {
    first = try PublicIdentity(reading: &reader)
    successors = []
    for _ in 0..<(try reader.count(limit: Self.successorCountMax, "an identity's successors")) {
      successors.append(
        Successor(
          identity: try PublicIdentity(reading: &reader), issuedAtMilliseconds: try reader.bigEndian(),
          signatureBefore: Array(try reader.raw(Self.signatureByteCount)),
          signature: Array(try reader.raw(Self.signatureByteCount))))
    }
    guard !successors.isEmpty, successors.allSatisfy({ $0.identity.replica == first.replica }) else {
      throw ByteReader.malformed("a history without successors, or of several replicas")
    }
  }
}
