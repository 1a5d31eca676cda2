import Foundation
import Godwit
import GodwitBase
import GodwitCore

@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

/// A group of two, the first one's file for the second, and what a member can make of it.
struct VectorScene {
  let group: TestGroup
  let sender: Identity
  var reader: Identity
  /// What the reader trusts.
  var records: [MemberRecord]
  /// Identities that the reader has replaced.
  var former: [Identity] = []
  let sealed: [UInt8]
  let container: [UInt8]
  let recipients: [AgeRecipient]

  init(postQuantum: Bool = false) async throws {
    let group = try await TestGroup(2, postQuantum: postQuantum)
    let note = Note(title: "Grüße", body: nil, views: 3)
    try await group[0].write { try $0.insert(note) }
    try await group[0].write { _ = try $0.execute("UPDATE note SET views = -9, body = 'x'") }
    try await self.init(of: group) { _ = try await group[0].export(to: .file($0)) }
  }

  /// What the first of a group writes as a file.
  init(of group: TestGroup, _ export: (String) async throws -> Void) async throws {
    self.group = group
    sender = try Forgery.keys(of: group[0]).identity
    reader = try Forgery.keys(of: group[1]).identity
    records = try Forgery.keys(of: group[1]).members
    let path = group.folder.file("changes")
    try await export(path)
    sealed = try Forgery.bytes(path)
    container = try Forgery.sign(Forgery.container(sealed, reader), by: sender)
    recipients = try Forgery.header(container).header.recipients
  }

  func vector(_ title: String, _ files: [[UInt8]]) -> ContainerVector {
    func bytes(_ write: (inout ByteWriter) -> Void) -> String {
      var writer = ByteWriter()
      write(&writer)
      return Hexadecimal.encode(writer.bytes)
    }
    return ContainerVector(
      title: title, identity: bytes { reader.encode(to: &$0) },
      former: former.isEmpty ? nil : former.map { identity in bytes { identity.encode(to: &$0) } },
      group: "\(group[0].group)",
      members: records.map { record in bytes { record.encode(to: &$0) } },
      files: files.map { Hexadecimal.encode($0) })
  }

  /// The same with a later record.
  func trusting(_ record: MemberRecord) -> VectorScene {
    var scene = self
    scene.records = records.filter { $0.identity != record.identity } + [record]
    return scene
  }

  func seal(_ container: [UInt8]) throws -> [UInt8] { try Forgery.seal(container, to: recipients) }
  func sign(_ container: [UInt8]) throws -> [UInt8] { try Forgery.sign(container, by: sender) }

  func replacingHeader(_ change: (SyncFileHeader) throws -> SyncFileHeader) throws -> [UInt8] {
    try seal(Forgery.replaceHeader(of: container, signedBy: sender, change))
  }

  /// The file's transactions.
  var transactions: [TransactionRecord] {
    get throws { try Forgery.transactions(sealed, reader) }
  }

  /// The header, after a change, with other bytes in the last place of some.
  func patchingHeader(
    _ old: [UInt8], _ new: [UInt8], _ change: (SyncFileHeader) throws -> SyncFileHeader = { $0 }
  ) throws -> [UInt8] {
    let (header, end) = try Forgery.header(container)
    var writer = ByteWriter()
    try change(header).write(to: &writer)
    var body = writer.bytes
    let places = 0...(body.count - old.count)
    guard let place = places.last(where: { body[$0..<($0 + old.count)].elementsEqual(old) }) else {
      throw GodwitError(.notFound, "the header does not have these bytes")
    }
    body.replaceSubrange(place..<(place + old.count), with: new)
    return try seal(Forgery.replaceHeader(of: container, endingAt: end, signedBy: sender, by: body))
  }

  /// The container with a part, or anything else, in place of its frames, signed anew. The changed header may be one
  /// that nobody reads.
  func replacingFrames(
    _ bytes: [UInt8], count: UInt64 = 2, _ change: (SyncFileHeader) throws -> SyncFileHeader = { $0 }
  ) throws -> [UInt8] {
    let end = try Forgery.header(container).end
    var trailer = ByteWriter()
    trailer.byte(SyncFileFormat.Part.trailer.rawValue)
    trailer.bigEndian(count)
    let replaced = container[..<end] + bytes + trailer.bytes + [UInt8](repeating: 0, count: 64)
    return try seal(Forgery.replaceHeader(of: Array(replaced), signedBy: sender, change))
  }
}
