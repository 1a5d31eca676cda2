import GodwitBase
import GodwitCore

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

// Records and lists of them in a header, of another form than their one.
extension ContainerVectorRecordingTests {
  func recordAcknowledgementForms(_ scene: VectorScene) throws {
    let vector = try Forgery.header(scene.container).header.vector
    let known = vector.entries.count
    let further = [7, 8].map { Origin(replica: scene.reader.replica, incarnation: $0) }
    /// Of two members; nobody has signed it, which is no fault of its form.
    func acknowledgement(
      by member: Int = 0, incarnation: UInt32 = 7, differing: [(place: Int, difference: Int64)] = [],
      unlisted: [Int] = [], other: [Int] = []
    ) -> [UInt8] {
      var writer = ByteWriter()
      writer.varint(member)
      writer.bigEndian(incarnation)
      writer.signedVarint(0)
      places(differing.map(\.place), to: &writer)
      for (_, difference) in differing { writer.signedVarint(difference) }
      writer.raw([UInt8](repeating: 1, count: 32))
      for list in [unlisted, other, []] { places(list, to: &writer) }
      writer.raw([UInt8](repeating: 1, count: 64))
      return writer.bytes
    }
    func list(_ origins: [Origin] = [], _ acknowledgements: [UInt8]..., count: Int? = nil) -> [UInt8] {
      var writer = ByteWriter()
      writer.varint(origins.count)
      for origin in origins { origin.write(to: &writer) }
      writer.varint(count ?? acknowledgements.count)
      return writer.bytes + acknowledgements.joined()
    }
    let first = acknowledgement(differing: [(known, -1)])
    let both = acknowledgement(differing: [(known, -1), (known + 1, -1)])
    let cases: [(String, String, GodwitError.Code, [UInt8])] = [
      ("difference", "a sequence that differs by 0", .corruptFile, list([], acknowledgement(differing: [(0, 0)]))),
      ("negative", "a sequence below 0", .corruptFile, list([], acknowledgement(differing: [(0, 1 << 30)]))),
      (
        "end", "a sequence of 2^40 - 1", .corruptFile,
        list([further[0]], acknowledgement(differing: [(known, 1 - 1 << 40)]))
      ),
      ("origin-known", "a further origin that the header's vector has", .corruptFile, list([vector.origins[0]], first)),
      ("origin-unnamed", "a further origin that no acknowledgement names", .corruptFile, list(further, first)),
      ("origin-order", "further origins out of order", .corruptFile, list(further.reversed(), both)),
      (
        "order", "acknowledgements out of order", .corruptFile,
        list([], acknowledgement(incarnation: 8), acknowledgement(incarnation: 7))
      ),
      ("twice", "two acknowledgements of one origin", .corruptFile, list([], acknowledgement(), acknowledgement())),
      (
        "both", "a member that it does not list, and lists with the other status", .corruptFile,
        list([], acknowledgement(unlisted: [1], other: [1]))
      ),
      ("place", "an origin beyond the last", .limitExceeded, list([], acknowledgement(differing: [(known, -1)]))),
      ("count", "more acknowledgements than there may be", .limitExceeded, list([], acknowledgement(), count: 1 << 20)),
      ("longer", "a byte behind the last acknowledgement", .corruptFile, list([], acknowledgement()) + [0]),
    ]
    for (name, title, code, bytes) in cases {
      try bad(
        "acknowledgements-\(name)", title, scene, code,
        scene.replacingHeader { $0.changing(fields: [SyncFileField(tag: 17, bytes: bytes)], acknowledgements: []) })
    }
  }

  /// Rising places in a list.
  private func places(_ places: [Int], to writer: inout ByteWriter) {
    writer.varint(places.count)
    var next = 0
    for place in places {
      writer.varint(place - next)
      next = place + 1
    }
  }

  func recordRosterForms(_ scene: VectorScene) throws {
    let group = scene.group[0].group
    func bytes(_ encode: (inout ByteWriter) -> Void) -> [UInt8] {
      var writer = ByteWriter()
      encode(&writer)
      return writer.bytes
    }
    func history(of identity: Identity) throws -> [UInt8] {
      var history = IdentityHistory(identity.publicIdentity)
      try history.append(
        Identity.generate(replica: identity.replica), after: identity, group: group, at: 1_800_000_000_000)
      return bytes { history.encode(to: &$0) }
    }
    func name(of identity: Identity) throws -> [UInt8] {
      let record = try NameRecord.issue(
        group: group, subject: identity.replica, name: "attic", at: 1_800_000_000_000, by: scene.sender)
      return bytes { record.encode(to: &$0) }
    }
    let members = [scene.sender, scene.reader].sorted { $0.replica < $1.replica }
    let histories = try members.map(history(of:))
    let names = try members.map(name(of:))
    let identities = members.map { member in bytes { member.publicIdentity.encode(to: &$0) } }
    let successor = Array(histories[0].dropFirst(identities[0].count + 1))
    let cases: [(String, String, GodwitError.Code, UInt32, [UInt8])] = [
      ("histories-none", "a list of histories without any", .corruptFile, 18, [0]),
      ("histories-order", "histories out of order", .corruptFile, 18, [2] + histories[1] + histories[0]),
      ("histories-twice", "two histories of one replica", .corruptFile, 18, [2] + histories[0] + histories[0]),
      ("histories-longer", "a byte behind the last history", .corruptFile, 18, [1] + histories[0] + [0]),
      ("history-empty", "a history without a successor", .corruptFile, 18, [1] + identities[0] + [0]),
      (
        "history-replica", "a successor of another replica's identity", .corruptFile, 18,
        [1] + identities[1] + [1] + successor
      ),
      (
        "history-limit", "a history of 33 successors", .limitExceeded, 18,
        [1] + identities[0] + [33] + (0..<33).flatMap { _ in successor }
      ),
      ("names-none", "a list of name records without any", .corruptFile, 19, [0]),
      ("names-order", "name records out of order", .corruptFile, 19, [2] + names[1] + names[0]),
      ("names-twice", "two name records of one replica", .corruptFile, 19, [2] + names[0] + names[0]),
    ]
    for (name, title, code, tag, bytes) in cases {
      try bad(
        name, title, scene, code,
        scene.replacingHeader { $0.changing(fields: [SyncFileField(tag: tag, bytes: bytes)], acknowledgements: []) })
    }
  }

  func recordRecordForms(_ scene: VectorScene) throws {
    let header = try Forgery.header(scene.container).header
    let member = header.roster.members[0]
    var fields = ByteWriter()
    member.encodeFields(to: &fields)
    func patched(_ place: Int, _ value: UInt8) throws -> [UInt8] {
      var patched = fields.bytes
      patched[place] = value
      return try scene.patchingHeader(fields.bytes, patched)
    }
    // Version, group, then the identity, which begins with its own version; at the end status, time and issuer.
    try bad("record-version", "a member record of version 1", scene, .unsupportedVersion, patched(0, 1))
    try bad("identity-version", "an identity of version 9", scene, .unsupportedVersion, patched(17, 9))
    try bad(
      "record-status", "a member who is neither active nor removed", scene, .corruptFile,
      patched(fields.bytes.count - 57, 3))

    let keys = header.recipients.map(\.bytes)
    let listed = [1, 2] + keys.joined()
    let low = [UInt8](repeating: 0, count: 32)
    try bad(
      "recipient-kind", "recipients of an unknown kind", scene, .unsupportedVersion,
      scene.patchingHeader(listed, [3] + listed.dropFirst()))
    try bad(
      "recipient-low", "a recipient of small order", scene, .invalidKey,
      scene.patchingHeader(listed, [1, 2] + low + scene.reader.ageIdentity.recipient.bytes))
    try bad(
      "recipients-none", "recipients of which there are none", scene, .corruptFile,
      scene.patchingHeader(listed, [1, 0]))

    var origin = ByteWriter()
    header.ranges[0].origin.write(to: &origin)
    for (name, title, ends) in [
      ("range-backwards", "a range that ends before it begins", [2, 1]), ("range-zero", "a range from 0 on", [0, 2]),
    ] as [(String, String, [UInt8])] {
      try bad(name, title, scene, .corruptFile, scene.patchingHeader(origin.bytes + [1, 2], origin.bytes + ends))
    }
    try recordEnded(scene)
  }

  private func recordEnded(_ scene: VectorScene) throws {
    let origins = [1, 2].map { Origin(replica: scene.reader.replica, incarnation: $0) }
    var bytes = ByteWriter()
    bytes.varint(2)
    for origin in origins {
      origin.write(to: &bytes)
      bytes.varint(5)
    }
    let (first, second) = (Array(bytes.bytes[1..<22]), Array(bytes.bytes[22...]))
    for (name, title, entries) in [
      ("ended-order", "ended incarnations out of order", second + first),
      ("ended-twice", "an incarnation that ended twice", first + first),
    ] {
      try bad(
        name, title, scene, .corruptFile,
        scene.patchingHeader(bytes.bytes, [2] + entries) {
          $0.changing(ended: [origins[0]: SequenceNumber(rawValue: 5), origins[1]: SequenceNumber(rawValue: 5)])
        })
    }
  }

  /// A state file of who has forgotten nothing, where all fits a chain that comes before the first transaction.
  func recordFloorChain(_ scene: VectorScene, stateFile sealed: [UInt8]) throws {
    let chain = [UInt8](repeating: 1, count: 32).withUnsafeBytes { ContentHash(of: $0) }
    let end = try scene.transactions.reduce(chain) { $1.chain(after: $0) }
    func file(floorChain: ContentHash?, chain: ContentHash?) throws -> [UInt8] {
      try scene.seal(
        Forgery.replaceHeader(of: Forgery.container(sealed, scene.reader), signedBy: scene.sender) { header in
          let head = header.stateFile.map { head in
            StateHead(
              origins: head.origins.map { $0.changing(chain: chain, floorChain: floorChain) }, clock: head.clock)
          }
          return header.changing(stateFile: head)
        })
    }
    try bad(
      "state-file-floor-chain", "a chain at a floor of 0", scene, .corruptFile, file(floorChain: chain, chain: end))
    try bad(
      "state-file-ranges", "a state file with a range", scene, .corruptFile,
      scene.seal(
        Forgery.replaceHeader(of: Forgery.container(sealed, scene.reader), signedBy: scene.sender) { header in
          try header.changing(ranges: Forgery.header(scene.container).header.ranges)
        }))
  }
}
