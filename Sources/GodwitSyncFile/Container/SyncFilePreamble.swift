import GodwitBase
import GodwitCrypto
import GodwitKeys

/// What a container begins with: who made the file, for which group, and a signature that is checked before anything
/// else of the file is looked at (Specs/sync-file.md, "Preamble").
package struct SyncFilePreamble: Sendable {
  package let group: GroupID
  package let sender: ReplicaID
  /// The records by which a reader that has not met the sender can know it: its own, its inviter's, and so on towards
  /// the founder, with the identities that each has replaced.
  package let introduction: RosterRecords
  /// The size and hash of the header behind it.
  let headerByteCount: Int
  let headerHash: ContentHash

  /// A chain of invitations is followed so far. Each link costs a reader the check of a signature.
  package static let introductionLimit = 8
  /// An introduction of hybrid identities that were replaced often fits.
  static let introductionByteLimit = 256 << 10
  /// Everything ahead of the introduction, behind the version.
  static let fixedByteCount = 16 + 16 + 4 + ContentHash.byteCount + 4

  package init(
    group: GroupID, sender: ReplicaID, introduction: RosterRecords, headerByteCount: Int, headerHash: ContentHash
  ) {
    self.group = group
    self.sender = sender
    self.introduction = introduction
    self.headerByteCount = headerByteCount
    self.headerHash = headerHash
  }

  /// Throws `limitExceeded` for an introduction that every reader would refuse.
  package func write(to writer: inout ByteWriter) throws {
    group.value.write(to: &writer)
    sender.value.write(to: &writer)
    writer.bigEndian(UInt32(headerByteCount))
    writer.raw(headerHash.bytes)
    let introduced = Self.encode(introduction)
    guard Self.hasRoom(for: introduction) else {
      throw GodwitError(
        .limitExceeded, "the introduction of a sync file would have \(introduced.count) bytes",
        hint: "nothing was written")
    }
    writer.bigEndian(UInt32(introduced.count))
    writer.raw(introduced)
  }

  /// Whether readers take an introduction of these.
  package static func hasRoom(for introduction: RosterRecords) -> Bool {
    introduction.members.count <= introductionLimit && introduction.histories.count <= introductionLimit
      && encode(introduction).count <= introductionByteLimit
  }

  private static func encode(_ introduction: RosterRecords) -> [UInt8] {
    var introduced = ByteWriter()
    introduced.varint(introduction.members.count)
    for member in introduction.members { member.encode(to: &introduced) }
    if !introduction.histories.isEmpty { introduced.raw(RosterRecords.encode(introduction.histories)) }
    return introduced.bytes
  }

  /// Reads what comes behind the version. `next` gives exactly so many bytes, and has a part in the signature.
  init(_ next: (Int) throws -> [UInt8]) throws {
    var reader = ByteReader(try next(Self.fixedByteCount))
    group = GroupID(try Identifier128(reading: &reader))
    sender = ReplicaID(try Identifier128(reading: &reader))
    headerByteCount = Int(try reader.bigEndian(UInt32.self))
    headerHash = try ContentHash(reading: &reader)
    let introductionByteCount = Int(try reader.bigEndian(UInt32.self))
    guard headerByteCount <= SyncFileFormat.headerByteLimit else {
      throw GodwitError(.limitExceeded, "the header claims \(headerByteCount) bytes")
    }
    guard introductionByteCount <= Self.introductionByteLimit else {
      throw GodwitError(.limitExceeded, "the sender's introduction claims \(introductionByteCount) bytes")
    }
    var introduced = ByteReader(try next(introductionByteCount))
    let count = try introduced.count(limit: Self.introductionLimit, "records of an introduction")
    let members = try (0..<count).map { _ in try MemberRecord(reading: &introduced) }
    try SyncFileHeader.requireRising(members.map(\.identity.replica), "an introduction's records")
    let histories = introduced.isAtEnd ? [] : try RosterRecords.histories(introduced.raw(introduced.remaining))
    guard histories.count <= Self.introductionLimit else {
      throw GodwitError(.limitExceeded, "an introduction has \(histories.count) histories")
    }
    introduction = RosterRecords(members: members, histories: histories)
  }
}
