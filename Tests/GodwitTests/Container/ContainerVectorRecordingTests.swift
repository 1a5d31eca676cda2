import Foundation
import Godwit
import GodwitBase
import GodwitCore
import Synchronization
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

/// Makes the vectors anew, with new keys: `GODWIT_RECORD_GOLDEN=1 swift test --filter ContainerVectorRecordingTests`.
@Suite("Recording container vectors", .enabled(if: ProcessInfo.processInfo.environment["GODWIT_RECORD_GOLDEN"] != nil))
struct ContainerVectorRecordingTests {
  func write(_ name: String, _ vector: ContainerVector) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let folder = ContainerVectorTests.folder
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try (encoder.encode(vector) + Data("\n".utf8)).write(to: URL(fileURLWithPath: "\(folder)/\(name).json"))
  }

  func good(
    _ name: String, _ title: String, _ scene: VectorScene, _ files: [[UInt8]], tellsNames: Bool = false
  ) async throws {
    var vector = scene.vector(title, files)
    let reader = try VectorReader(vector)
    let found = Mutex<[LoggedTransaction]>([])
    let inspection = try await Replica.inspect(reader.source, at: reader.path) { transaction in
      found.withLock { $0.append(transaction) }
    }
    vector.content = try ContainerVector.Content(inspection, found.withLock { $0 })
    if !tellsNames { vector.content?.names = nil }
    try write("open-\(name)", vector)
  }

  func bad(
    _ name: String, _ title: String, _ scene: VectorScene, _ code: GodwitError.Code, _ files: [UInt8]...
  ) throws {
    var vector = scene.vector(title, files)
    vector.error = code.rawValue
    try write("refuse-\(name)", vector)
  }

  @Test("all of them")
  func record() async throws {
    let scene = try await VectorScene()
    try await recordGood(scene)
    try recordSealing(scene)
    try recordHeaders(scene)
    try recordParts(scene)
    try await recordSenders(scene)
    try await recordReplacedIdentity()
    try await recordPostQuantum(scene)
    try await recordTables(scene)
    try await recordHeaderForms(scene)
    try recordFrameForms(scene)
    try await recordTransactionForms(scene)
    try recordAcknowledgementForms(scene)
    try recordRosterForms(scene)
    try recordRecordForms(scene)
    try await recordOperations()
    try await recordAdmissions(scene)
    try await recordStateFileForms()
  }

  private func recordGood(_ scene: VectorScene) async throws {
    try await good("changes", "two transactions of one origin", scene, [scene.sealed])
    let path = scene.group.folder.file("stateFile")
    _ = try await scene.group[0].exportState(to: .file(path))
    try await good("state-file", "the state with its two transactions", scene, [Forgery.bytes(path)])
    try recordFloorChain(scene, stateFile: Forgery.bytes(path))
    let fields = [SyncFileField(tag: 1, bytes: [1, 2, 3]), SyncFileField(tag: 4_294_967_295, bytes: [])]
    try await recordAcknowledgements(scene)
    try await good(
      "fields", "fields of a later version that may be passed over", scene,
      [scene.replacingHeader { $0.changing(fields: fields) }])
  }

  /// The other member's latest acknowledgement, an older one of its copy, and one that nobody has signed.
  private func recordAcknowledgements(_ scene: VectorScene) async throws {
    try await scene.group.send(from: 0, to: 1)
    scene.group.clock.advance(60_000)
    try await scene.group.send(from: 1, to: 0)
    let path = scene.group.folder.file("acknowledgements")
    _ = try await scene.group[0].export(to: .file(path), includesAll: true)
    let container = try Forgery.container(Forgery.bytes(path), scene.reader)
    let header = try Forgery.header(container).header
    let origin = Origin(replica: scene.sender.replica, incarnation: 99)
    let copy = try SignedAcknowledgement.issue(
      group: header.group, incarnation: 7, at: header.createdAt - 5_000,
      vector: VersionVector([origin: SequenceNumber(rawValue: 3)]), chains: .zero,
      members: RosterRecords(members: Array(header.roster.members.prefix(1))).statuses, ended: [], by: scene.reader)
    let unsigned = SignedAcknowledgement(
      group: header.group, origin: Origin(replica: scene.reader.replica, incarnation: 8), createdAt: copy.createdAt,
      vector: copy.vector, chains: .zero, members: copy.members, ended: [], signature: copy.signature)
    func file(_ change: (SyncFileHeader) -> SyncFileHeader) throws -> [UInt8] {
      try scene.seal(Forgery.replaceHeader(of: container, signedBy: scene.sender, change))
    }
    try await good(
      "acknowledgements", "what the sender, the reader and a copy of it have signed, and one that nobody has", scene,
      [file { $0.changing(acknowledgements: $0.acknowledgements + [copy, unsigned]) }])

    try bad(
      "acknowledgements-none", "a list of acknowledgements without any", scene, .corruptFile,
      file { $0.changing(fields: [SyncFileField(tag: 17, bytes: [0, 0])], acknowledgements: []) })
    try bad(
      "acknowledgements-member", "an acknowledgement by a member that the header does not have", scene, .limitExceeded,
      file { $0.changing(fields: [SyncFileField(tag: 17, bytes: [0, 1, 2])], acknowledgements: []) })
  }

  private func recordSealing(_ scene: VectorScene) throws {
    let sealed = scene.sealed
    func changed(_ position: Int) -> [UInt8] {
      var changed = sealed
      changed[position] ^= 1
      return changed
    }
    try bad("empty", "no bytes", scene, .truncatedFile, [])
    try bad("no-age", "no age file", scene, .corruptFile, Array("hello\n".utf8))
    try bad("age-version", "another version of age", scene, .unsupportedVersion, Array("age-encryption.org/v2\n".utf8))
    try bad("cut-header", "cut in the age header", scene, .truncatedFile, Array(sealed.prefix(100)))
    try bad("cut", "the last byte is missing", scene, .corruptFile, sealed.dropLast())
    try bad("extended", "a byte follows", scene, .corruptFile, sealed + [0])
    try bad("joined", "another file follows", scene, .corruptFile, sealed + sealed)
    try bad("changed", "a byte of the payload was changed", scene, .corruptFile, changed(sealed.count - 100))
    // Its first character, for the last one's spare bits are zeros.
    var other = sealed
    let mac = other.count - (scene.container.count + 16 + 16) - 44
    other[mac] = other[mac] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
    try bad("changed-mac", "the age header's MAC was changed", scene, .corruptFile, other)
    try bad("armored", "armored", scene, .unsupportedVersion, Forgery.armor(sealed))
    let stranger = try AgeIdentity(secret: SecretBytes(random: 32)).recipient
    try bad(
      "other-recipient", "sealed to somebody else", scene, .notARecipient,
      Forgery.seal(scene.container, to: [stranger]))
    try bad(
      "fewer-recipients", "sealed to fewer than its maker says", scene, .corruptFile,
      Forgery.seal(scene.container, to: [scene.reader.ageIdentity.recipient]))
    try bad(
      "more-recipients", "sealed to one more than its maker says", scene, .corruptFile,
      Forgery.seal(scene.container, to: scene.recipients + [stranger]))
    let plain = try Forgery.container(sealed, scene.reader)
    try bad(
      "sealed-anew", "sealed anew by a reader, to the same recipients", scene, .invalidSignature,
      Forgery.seal(plain, to: scene.recipients))
    try bad(
      "recipient-exchanged", "sealed anew by a reader, to a stranger in place of the sender", scene, .invalidSignature,
      Forgery.seal(plain, to: [scene.reader.ageIdentity.recipient, stranger]))
    try bad(
      "reader-not-listed", "sealed to as many, of whom the header does not list the reader", scene, .corruptFile,
      scene.replacingHeader { header in
        let others = [scene.sender.ageIdentity.recipient, stranger]
        return header.changing(recipients: others.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) })
      })
    let hybrid = try AgeIdentity(.hybrid, secret: SecretBytes(random: 32)).recipient
    try bad(
      "mixed-recipients", "sealed to a hybrid key in place of the sender's", scene, .corruptFile,
      Forgery.sealMixed(scene.container, to: [scene.reader.ageIdentity.recipient, hybrid]))
  }

  private func recordHeaders(_ scene: VectorScene) throws {
    func withByte(_ position: Int, _ value: UInt8) throws -> [UInt8] {
      var changed = scene.container
      changed[position] = value
      return try scene.seal(scene.sign(changed))
    }
    try bad("magic", "another magic number", scene, .corruptFile, withByte(0, 0x67))
    try bad("version-0", "version 0", scene, .unsupportedVersion, withByte(7, 0))
    try bad("version-4", "version 4", scene, .unsupportedVersion, withByte(7, 4))
    try bad("version-7", "version 7", scene, .unsupportedVersion, withByte(7, 7))
    try bad("short-header", "a short header whose base is not here", scene, .unknownBase, withByte(7, 6))
    try bad("header-size", "a header of more than 64 MiB", scene, .limitExceeded, withByte(40, 4))
    try bad("header-cut", "a header that ends beyond the file", scene, .truncatedFile, withByte(41, 0x80))
    try bad("header-hash", "a header that is not the one the preamble names", scene, .corruptFile, withByte(44, 0xAA))
    try bad(
      "introduction-size", "an introduction of more than 256 KiB", scene, .limitExceeded, withByte(76, 1))
    let (header, end) = try Forgery.header(scene.container)
    var body = ByteWriter()
    header.write(to: &body)
    try bad(
      "header-extended", "a byte behind the header's fields", scene, .corruptFile,
      scene.seal(
        Forgery.replaceHeader(of: scene.container, endingAt: end, signedBy: scene.sender, by: body.bytes + [0])))
    let tagged: [(String, String, GodwitError.Code, [UInt32])] = [
      ("field", "a field that must be understood", .unsupportedVersion, [2]),
      ("field-order", "fields out of order", .corruptFile, [3, 1]),
      ("field-twice", "a field that comes twice", .corruptFile, [3, 3]),
      ("field-count", "more than 256 fields", .limitExceeded, (0..<257).map { UInt32($0 * 2 + 1) }),
    ]
    for (name, title, code, tags) in tagged {
      try bad(
        name, title, scene, code,
        scene.replacingHeader { $0.changing(fields: tags.map { SyncFileField(tag: $0, bytes: []) }) })
    }
    try bad(
      "recipient-order", "recipients out of order", scene, .corruptFile,
      scene.replacingHeader { $0.changing(recipients: $0.recipients.reversed()) })
    try bad(
      "chain", "a chain at a range's end that its transactions do not have", scene, .corruptFile,
      scene.replacingHeader { $0.changing(ranges: $0.ranges.map { $0.changing(chainAtEnd: .zero) }) })
    try bad(
      "chain-before", "a chain before the first transaction", scene, .corruptFile,
      scene.replacingHeader { header in
        let hash = [UInt8](repeating: 1, count: 32).withUnsafeBytes { ContentHash(of: $0) }
        return header.changing(ranges: header.ranges.map { $0.changing(chainBefore: hash) })
      })
    try bad(
      "range-longer", "a range with more transactions than the file has", scene, .corruptFile,
      scene.replacingHeader { $0.changing(ranges: $0.ranges.map { $0.changing(last: $0.last.next) }) })
    try bad(
      "range-shorter", "a range with fewer transactions than the file has", scene, .corruptFile,
      scene.replacingHeader { $0.changing(ranges: $0.ranges.map { $0.changing(last: $0.first) }) })
  }

  private func recordParts(_ scene: VectorScene) throws {
    let frames = Array(scene.container[try Forgery.header(scene.container).end...].dropLast(64 + 9))
    func frame(packed: [UInt8], size: UInt32, claims: UInt32? = nil, part: SyncFileFormat.Part = .frame) -> [UInt8] {
      var writer = ByteWriter()
      writer.byte(part.rawValue)
      writer.bigEndian(claims ?? UInt32(packed.count))
      writer.bigEndian(size)
      return writer.bytes + packed + [UInt8](repeating: 0, count: 64)
    }
    let zeros = try Zstd(level: 3).compress([UInt8](repeating: 0, count: 1 << 20))
    try bad("count", "a trailer with another count", scene, .corruptFile, scene.replacingFrames(frames, count: 3))
    try bad("no-frames", "no frames", scene, .corruptFile, scene.replacingFrames([], count: 2))
    try bad(
      "frames-twice", "the frames come twice", scene, .corruptFile, scene.replacingFrames(frames + frames, count: 4))
    try bad("part", "an unknown part", scene, .corruptFile, scene.replacingFrames([9]))
    try bad(
      "block", "a state file's block among changes", scene, .corruptFile,
      scene.replacingFrames(frame(packed: zeros, size: 1 << 20, part: .state)))
    try bad(
      "packed-size", "a frame of more than 1 GiB", scene, .limitExceeded,
      scene.replacingFrames(frame(packed: [], size: 10, claims: 1 << 30 + 1)))
    try bad(
      "bomb", "a frame that unpacks to more than 256 times its size, and 64 MiB", scene, .limitExceeded,
      scene.replacingFrames(frame(packed: zeros, size: 1 << 30)))
    try bad(
      "unpacked-size", "a frame that unpacks to another size", scene, .corruptFile,
      scene.replacingFrames(frame(packed: zeros, size: 1 << 20 - 1)))
    try bad(
      "zeros", "a frame that is none", scene, .corruptFile, scene.replacingFrames(frame(packed: zeros, size: 1 << 20)))
    try bad(
      "no-zstd", "a frame that is not packed", scene, .corruptFile,
      scene.replacingFrames(frame(packed: [1, 2, 3], size: 3)))
    try bad(
      "no-trailer", "no trailer", scene, .truncatedFile, scene.seal(Array(scene.container.dropLast(64 + 9))))
    try bad("cut-trailer", "a cut trailer", scene, .truncatedFile, scene.seal(scene.container.dropLast()))
    try bad("after-trailer", "a byte behind the trailer", scene, .corruptFile, scene.seal(scene.container + [0]))
  }

  private func recordSenders(_ scene: VectorScene) async throws {
    try bad(
      "signature", "signed by the reader, in the sender's name", scene, .invalidSignature,
      scene.seal(Forgery.sign(scene.container, by: scene.reader)))
    let other = try await VectorScene()
    let listed = [scene.reader, other.sender].map(\.ageIdentity.recipient)
      .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    try bad(
      "group", "of another group", scene, .otherGroup,
      Forgery.seal(
        Forgery.replaceHeader(of: other.container, signedBy: other.sender) { $0.changing(recipients: listed) },
        to: listed))
    try bad(
      "stranger", "made by nobody in the group", scene, .unknownSender,
      scene.seal(
        Forgery.replaceHeader(of: scene.container, signedBy: other.sender) {
          $0.changing(sender: other.sender.replica)
        }))
    func file(ofOneAddedAt milliseconds: Int64) throws -> [UInt8] {
      let late = try MemberRecord.issue(
        group: scene.group[0].group, identity: other.sender.publicIdentity, name: "late", status: .active,
        at: milliseconds, by: scene.reader,
        ground: scene.records.first { $0.subject == scene.reader.replica }?.hash)
      return try scene.seal(
        Forgery.replaceHeader(of: scene.container, signedBy: other.sender) { header in
          var roster = header.roster
          roster.members = (roster.members + [late]).sorted { $0.subject < $1.subject }
          return header.changing(sender: other.sender.replica, roster: roster)
        })
    }
    try await good(
      "record-at-the-end", "made by one whose member record is dated 2^62 - 1", scene,
      [file(ofOneAddedAt: (1 << 62) - 1)])
    try bad(
      "record-beyond-the-end", "made by one whose member record is dated 2^62", scene, .unknownSender,
      file(ofOneAddedAt: 1 << 62))
    let removal = try MemberRecord.issue(
      group: scene.group[0].group, identity: scene.sender.publicIdentity, name: "gone", status: .removed,
      at: 1_800_000_000_000, by: scene.reader)
    try bad(
      "removed", "made by a member that was removed", scene.trusting(removal), .unknownSender, scene.sealed)
  }

  private func recordReplacedIdentity() async throws {
    let scene = try await VectorScene()
    let sender = scene.group[0]
    for _ in 0..<2 { try await sender.members.rotateIdentity() }
    try await sender.members.rename("\(sender.identity.replica)", to: "desk")
    let path = scene.group.folder.file("replaced")
    _ = try await sender.export(to: .file(path))
    try await good(
      "replaced-identity", "by a member that has replaced its identity twice, and got another name", scene,
      [Forgery.bytes(path)])
    let container = try Forgery.container(Forgery.bytes(path), scene.reader)
    let recipients = try Forgery.header(container).header.recipients
    try bad(
      "replaced-key", "signed with the key that was replaced", scene, .unknownSender,
      Forgery.seal(Forgery.sign(container, by: scene.sender), to: recipients))
    let present = try Forgery.keys(of: sender).identity
    for (name, place) in [("successor-before", 65), ("successor-new", 1)] {
      let forged = try Forgery.replaceHeader(of: container, signedBy: present) { header in
        var roster = header.roster
        roster.histories = try RosterRecords.histories(
          Forgery.flip(RosterRecords.encode(roster.histories), fromEnd: place))
        return header.changing(roster: roster)
      }
      try bad(
        name, "whose successor lacks a signature", scene, .invalidSignature, Forgery.seal(forged, to: recipients))
    }
  }

  private func recordPostQuantum(_ classical: VectorScene) async throws {
    let scene = try await VectorScene(postQuantum: true)
    try await good("post-quantum", "of a post-quantum group", scene, [scene.sealed])
    let weak = classical.reader.ageIdentity.recipient
    try bad(
      "post-quantum-mixed", "sealed to a classical key in place of the sender's", scene, .corruptFile,
      Forgery.sealMixed(scene.container, to: [scene.reader.ageIdentity.recipient, weak]))
    try bad(
      "post-quantum-classical", "sealed to a classical key alone", scene, .notARecipient,
      Forgery.seal(scene.container, to: [weak]))
    var strange = scene.vector("a classical file, for a post-quantum reader", [classical.sealed])
    strange.error = GodwitError.Code.notARecipient.rawValue
    try write("refuse-post-quantum-other-group", strange)
  }
}
