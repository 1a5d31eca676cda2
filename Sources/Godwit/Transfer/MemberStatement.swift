import GodwitBase
import GodwitReplication

/// What a member said of itself in a file (Specs/forgetting.md, "Acknowledgement").
struct MemberStatement: Equatable {
  /// All that it held.
  var vector = VersionVector()
  /// By the member's own clock.
  var milliseconds = Int64.min
  /// The members it knew to be removed.
  var removed: Set<ReplicaID> = []
  /// The incarnations it knew to have ended.
  var ended: Set<Origin> = []

  /// Whether it takes nothing more from this one than what others can know of, too.
  func knowsEnd(of origin: Origin) -> Bool { removed.contains(origin.replica) || ended.contains(origin) }

  func write(to writer: inout ByteWriter) {
    vector.write(to: &writer)
    writer.signedVarint(milliseconds)
    writer.varint(removed.count)
    for replica in removed.sorted() { replica.value.write(to: &writer) }
    writer.varint(ended.count)
    for origin in ended.sorted() { origin.write(to: &writer) }
  }
}

extension MemberStatement {
  init(reading reader: inout ByteReader) throws {
    vector = try VersionVector(reading: &reader)
    milliseconds = try reader.signedVarint()
    removed = Set(
      try (0..<(try reader.count())).map { _ in ReplicaID(try Identifier128(reading: &reader)) })
    ended = Set(try (0..<(try reader.count())).map { _ in try Origin(reading: &reader) })
  }
}
