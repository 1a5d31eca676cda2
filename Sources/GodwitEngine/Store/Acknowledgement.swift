import GodwitBase
import GodwitCore
import GodwitSyncFile

/// What a member said of itself in a file (Specs/forgetting.md, "Acknowledgement").
package struct Acknowledgement: Equatable, Sendable {
  /// All that it held.
  package var vector = VersionVector()
  /// By the member's own clock.
  package var milliseconds = Int64.min
  /// The members it knew to be removed.
  var removed: Set<ReplicaID> = []
  /// The incarnations it knew to have ended.
  var ended: Set<Origin> = []

  /// Whether it takes nothing more from this one than what others can know of, too.
  func knowsEnd(of origin: Origin) -> Bool { removed.contains(origin.replica) || ended.contains(origin) }

  /// Whether it takes the place of an earlier one: what is said later does, more or less. So an old file that comes
  /// again says nothing new, by whatever way, and a machine that was rolled back says truthfully that it holds less.
  func replaces(_ other: Acknowledgement) -> Bool {
    if milliseconds != other.milliseconds { return milliseconds > other.milliseconds }
    return self != other && vector.covers(other.vector)
  }

  func write(to writer: inout ByteWriter) {
    vector.write(to: &writer)
    writer.signedVarint(milliseconds)
    writer.varint(removed.count)
    for replica in removed.sorted() { replica.value.write(to: &writer) }
    writer.varint(ended.count)
    for origin in ended.sorted() { origin.write(to: &writer) }
  }
}

extension Acknowledgement {
  init(_ signed: SignedAcknowledgement) {
    self.init(
      vector: signed.vector, milliseconds: signed.createdAt,
      removed: Set(signed.members.filter { $0.value == .removed }.keys), ended: signed.ended)
  }

  init(reading reader: inout ByteReader) throws {
    vector = try VersionVector(reading: &reader)
    milliseconds = try reader.signedVarint()
    removed = Set(
      try (0..<(try reader.count())).map { _ in ReplicaID(try Identifier128(reading: &reader)) })
    ended = Set(try (0..<(try reader.count())).map { _ in try Origin(reading: &reader) })
  }
}
