import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitStorage

/// The origins a database knows, their local numbers, and how far each is held.
package final class OriginTable: OriginNumbering {
  package struct Head {
    let origin: Origin
    let number: Int
    package var sequence: SequenceNumber
    package var chain: ContentHash
    /// Up to which sequence the row states know its transactions.
    var folded: SequenceNumber
    /// Up to which sequence its transactions have been forgotten, and its chain there (Specs/forgetting.md).
    package var floor: SequenceNumber
    package var floorChain: ContentHash
    /// Its last transaction, when its incarnation has ended (Specs/incarnations.md, "Ending").
    var ended: SequenceNumber?
  }

  static let creation = """
    CREATE TABLE godwit_origin (id INTEGER PRIMARY KEY, replica BLOB NOT NULL, incarnation INTEGER NOT NULL,
      sequence INTEGER NOT NULL, chain BLOB NOT NULL, folded INTEGER NOT NULL,
      floor INTEGER NOT NULL, floor_chain BLOB NOT NULL, ended INTEGER, UNIQUE (replica, incarnation));
    """

  private let connection: Connection
  private var heads: [Origin: Head] = [:]
  private var origins: [Int: Origin] = [:]
  /// The greatest number of another's origin.
  private var lastNumber = 0
  /// The heads' sequences, as long as they are known to be that.
  private var knownVector: VersionVector?
  /// The incarnations that are known to have ended, and their last transactions.
  package private(set) var ended: [Origin: SequenceNumber] = [:]
  package let own: Origin
  /// The timestamp of the latest own transaction.
  package private(set) var ownLatest = HLC(rawValue: 0)
  /// What the last own entry of the log says of the tables' sums.
  private(set) var ownSums: StateTally.OwnSums?

  package init(_ connection: Connection) throws {
    self.connection = connection
    let stored = try Self.load(connection)
    heads = Dictionary(uniqueKeysWithValues: stored.map { ($0.origin, $0) })
    origins = Dictionary(uniqueKeysWithValues: stored.map { ($0.number, $0.origin) })
    lastNumber = stored.last { $0.number < LogKey.firstOwnNumber }?.number ?? 0
    ended = heads.compactMapValues(\.ended)
    // The last one: earlier incarnations keep their numbers.
    guard let own = stored.last, own.number >= LogKey.firstOwnNumber else {
      throw GodwitError(.damagedLog, "the database has lost its own origin")
    }
    self.own = own.origin
    try loadOwnHead()
  }

  private static func load(_ connection: Connection) throws -> [Head] {
    let sql = """
      SELECT id, replica, incarnation, sequence, chain, folded, floor, floor_chain, ended FROM godwit_origin ORDER BY id
      """
    return try connection.withStatement(sql) { statement in
      var heads: [Head] = []
      while try statement.step() {
        var replica = ByteReader(statement.blob(at: 1))
        var chain = ByteReader(statement.blob(at: 4))
        var floorChain = ByteReader(statement.blob(at: 7))
        let origin = Origin(
          replica: ReplicaID(try Identifier128(reading: &replica)),
          incarnation: UInt32(truncatingIfNeeded: statement.integer(at: 2)))
        heads.append(
          Head(
            origin: origin, number: Int(statement.integer(at: 0)),
            sequence: SequenceNumber(rawValue: UInt64(bitPattern: statement.integer(at: 3))),
            chain: try ContentHash(reading: &chain),
            folded: SequenceNumber(rawValue: UInt64(bitPattern: statement.integer(at: 5))),
            floor: SequenceNumber(rawValue: UInt64(bitPattern: statement.integer(at: 6))),
            floorChain: try ContentHash(reading: &floorChain),
            ended: statement.isNull(at: 8)
              ? nil : SequenceNumber(rawValue: UInt64(bitPattern: statement.integer(at: 8)))))
      }
      return heads
    }
  }

  /// Local commits do not touch `godwit_origin`: the log's last own row says how far it goes, or the floor when all of
  /// it has been forgotten.
  private func loadOwnHead() throws {
    knownVector = nil
    let number = try number(of: own)
    guard let last = try ChangeLog.lastEntry(of: number, on: connection) else {
      guard let head = heads[own] else { return }
      heads[own]?.sequence = head.floor
      heads[own]?.chain = head.floorChain
      return
    }
    ownLatest = last.hlc
    ownSums = StateTally.OwnSums(key: last.key.rawValue, bytes: last.sums)
    heads[own]?.sequence = last.key.sequence
    heads[own]?.chain = last.chain
  }

  /// Makes an origin of a new, random incarnation the own one.
  @discardableResult
  static func addOwn(
    replica: ReplicaID, _ numbers: IncarnationNumbers, on connection: Connection
  ) throws -> Origin {
    let own = Origin(replica: replica, incarnation: numbers.next())
    let last = try connection.scalar("SELECT max(id) FROM godwit_origin")
    var number = LogKey.firstOwnNumber
    if case .integer(let used)? = last, Int(used) >= number { number = Int(used) + 1 }
    guard number < LogKey.originLimit else { throw GodwitError(.limitExceeded, "there are too many incarnations") }
    try add(own, number: number, on: connection)
    return own
  }

  private static func add(_ origin: Origin, number: Int, on connection: Connection) throws {
    var writer = ByteWriter(capacity: 16)
    origin.replica.value.write(to: &writer)
    try connection.run(
      """
      INSERT INTO godwit_origin (id, replica, incarnation, sequence, chain, folded, floor, floor_chain)
      VALUES (?, ?, ?, 0, ?, 0, 0, ?)
      """,
      [
        .integer(Int64(number)), .blob(writer.bytes), .integer(Int64(origin.incarnation)),
        .blob(ContentHash.zero.bytes), .blob(ContentHash.zero.bytes),
      ])
  }

  /// Makes every origin one of which nothing is held; they keep their numbers.
  static func reset(on connection: Connection) throws {
    try connection.run(
      "UPDATE godwit_origin SET sequence = 0, chain = ?1, folded = 0, floor = 0, floor_chain = ?1",
      [.blob(ContentHash.zero.bytes)])
  }

  /// How many origins are known at most by what others say of them: as many as a version vector has, and room for this
  /// replica's own. What is known of more could not be read again.
  private static let knownLimit = VersionVector.originLimit - 1_024

  /// The origin's head; an origin never met before stands at 0.
  ///
  /// - Throws: `limitExceeded` for one more than a replica knows.
  package func head(of origin: Origin) throws -> Head {
    if let head = heads[origin] { return head }
    let number = lastNumber + 1
    guard number < LogKey.firstOwnNumber, heads.count < Self.knownLimit else {
      throw GodwitError(
        .limitExceeded, "there are over \(Self.knownLimit) incarnations in the group",
        hint: "nothing was changed; find the member that makes them, and remove it: godwit member incarnations")
    }
    try Self.add(origin, number: number, on: connection)
    let head = Head(
      origin: origin, number: number, sequence: .none, chain: .zero, folded: .none, floor: .none, floorChain: .zero)
    heads[origin] = head
    origins[number] = origin
    lastNumber = number
    return head
  }

  func advance(_ origin: Origin, to sequence: SequenceNumber, chain: ContentHash) {
    heads[origin]?.sequence = sequence
    heads[origin]?.chain = chain
    knownVector?[origin] = sequence
  }

  /// Says that an origin writes no more. Its end is its last transaction that files may be on their way with and nobody
  /// who lives may hold; of several that are known the latest counts.
  package func end(_ origin: Origin, through last: SequenceNumber = .none) throws {
    let head = try head(of: origin)
    try setEnd(of: head, max(last, head.ended ?? .none))
  }

  /// Says that an origin which has ended did so earlier than was known: what it wrote since is nowhere to be taken in.
  func moveEnd(of origin: Origin, to last: SequenceNumber) throws {
    guard let head = heads[origin], head.ended != nil else { return }
    try setEnd(of: head, last)
  }

  private func setEnd(of head: Head, _ end: SequenceNumber) throws {
    guard head.ended != end else { return }
    heads[head.origin]?.ended = end
    ended[head.origin] = end
    try connection.run(
      "UPDATE godwit_origin SET ended = ? WHERE id = ?", [.integer(Int64(end.rawValue)), .integer(Int64(head.number))])
  }

  /// All origins that are known, those of which nothing is held included.
  package var all: [Origin] { heads.keys.sorted() }

  /// Writes the heads of origins; called once at the end of an import. The own one needs it only when it ends.
  func save(_ changed: Set<Origin>) throws {
    for origin in changed.sorted() {
      guard let head = heads[origin] else { continue }
      try connection.run(
        "UPDATE godwit_origin SET sequence = ?, chain = ? WHERE id = ?",
        [.integer(Int64(head.sequence.rawValue)), .blob(head.chain.bytes), .integer(Int64(head.number))])
    }
  }

  var foldedVector: VersionVector { VersionVector(heads.mapValues(\.folded)) }

  var hasUnfolded: Bool { heads.values.contains { $0.folded < $0.sequence } }

  /// Says that the row states know all that is held, or as much of it as the limit covers.
  func markFolded(through limit: VersionVector? = nil) throws {
    for head in heads.values.sorted(by: { $0.number < $1.number }) {
      let end = limit.map { min($0[head.origin], head.sequence) } ?? head.sequence
      guard head.folded < end else { continue }
      heads[head.origin]?.folded = end
      try connection.run(
        "UPDATE godwit_origin SET folded = ? WHERE id = ?",
        [.integer(Int64(end.rawValue)), .integer(Int64(head.number))])
    }
  }

  /// The log key of the last own transaction.
  var ownKey: Int64 { heads[own].map { LogKey(origin: $0.number, $0.sequence).rawValue } ?? 0 }

  var ownSequence: SequenceNumber { heads[own]?.sequence ?? .none }
  /// Up to where the log has been forgotten.
  package var floor: VersionVector { VersionVector(heads.mapValues(\.floor)) }

  /// Says that an origin's log begins after this transaction.
  func raiseFloor(of origin: Origin, to sequence: SequenceNumber, chain: ContentHash) throws {
    let number = try number(of: origin)
    heads[origin]?.floor = sequence
    heads[origin]?.floorChain = chain
    try connection.run(
      "UPDATE godwit_origin SET floor = ?, floor_chain = ? WHERE id = ?",
      [.integer(Int64(sequence.rawValue)), .blob(chain.bytes), .integer(Int64(number))])
  }

  /// Everything held here.
  package var vector: VersionVector {
    if let knownVector { return knownVector }
    let vector = VersionVector(heads.mapValues(\.sequence))
    knownVector = vector
    return vector
  }

  /// Everything held here of others: the context of the next own transaction.
  var othersVector: VersionVector {
    var vector = vector
    vector[own] = .none
    return vector
  }

  package func number(of origin: Origin) throws -> Int { try head(of: origin).number }

  package func origin(numbered number: Int) throws -> Origin {
    guard let origin = origins[number] else { throw GodwitError(.damagedLog, "origin number \(number) is unknown") }
    return origin
  }
}
