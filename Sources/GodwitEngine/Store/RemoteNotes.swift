import GodwitBase
import GodwitCore
import GodwitStorage

/// The remotes of this replica, and what it has seen and published there (`godwit_remote`, `godwit_remote_file`;
/// Specs/remotes.md, "A pass"). No secret is among it.
package struct RemoteNotes {
  static let creation = """
    CREATE TABLE godwit_remote (name TEXT PRIMARY KEY, url TEXT NOT NULL, added INTEGER NOT NULL,
      synced INTEGER, code TEXT, message TEXT, since INTEGER, found TEXT, found_at INTEGER, needed INTEGER,
      logged INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE godwit_remote_file (remote TEXT NOT NULL, name TEXT NOT NULL, tag TEXT, doubt TEXT, code TEXT,
      at INTEGER NOT NULL, ranges BLOB NOT NULL, sealed BLOB NOT NULL, content BLOB NOT NULL, news BLOB NOT NULL,
      base BLOB NOT NULL, PRIMARY KEY (remote, name)) WITHOUT ROWID;
    """

  /// A remote.
  package struct Remote: Sendable {
    package let name: String
    package var url: String
    /// Milliseconds since 1970 UTC.
    package let addedAt: Int64
    /// When a pass was last whole.
    package var syncedAt: Int64?
    /// What is wrong with it.
    package var problem: Problem?
    /// What was found last that is not as this replica left it there, by names, and when.
    package var found: (names: [String], at: Int64)?
    /// Since when a member needs a state file.
    package var neededSince: Int64?
    /// The number of the last file that this replica has put into its log there; 0 when it has put none.
    package var logged: UInt32 = 0

    package init(name: String, url: String, addedAt: Int64) {
      self.name = name
      self.url = url
      self.addedAt = addedAt
    }
  }

  /// What is wrong with a remote, and since when.
  package struct Problem: Sendable, Hashable {
    package let code: String
    package let message: String
    /// Milliseconds since 1970 UTC.
    package let since: Int64

    package init(code: String, message: String, since: Int64) {
      self.code = code
      self.message = message
      self.since = since
    }
  }

  /// A file at a remote.
  package struct File: Sendable, Hashable {
    package let name: String
    /// Nil for one that was meant to be published, and may not be.
    package var tag: String?
    /// The tag of the answer, where that had another tag or size than the list: it may have been an earlier file.
    package var doubt: String?
    /// Why it was not taken, or ``leftOut``, ``mutual`` or ``incomplete``; of one of this replica's own ``new`` or
    /// ``late``. Nil for one that was taken, or was seen there as it was published.
    package var code: String?
    /// When it was taken, refused or published. Milliseconds since 1970 UTC.
    package var at: Int64
    /// The transactions in it.
    package var ranges: OriginRanges
    /// A hash of the recipients that it is sealed to.
    package var sealed: [UInt8] = []
    /// Of one of this replica's own: a hash of its bytes.
    package var content: [UInt8] = []
    /// What this replica had to say when the file was published, or what it was refused by.
    package var news: [UInt8]
    /// The hash of the header that its header builds on; empty for one that is whole.
    package var base: [UInt8] = []

    /// Published, and no list has shown it yet.
    package static let new = "new"
    /// Published, and a list has not shown it.
    package static let late = "late"
    /// Taken, but for work that was written without what has been forgotten here: who has that needs a state.
    package static let leftOut = "left out"
    /// That, and this replica needs a state of its author's, too.
    package static let mutual = "left out, fenced"
    /// Taken, but for what could neither be applied nor wait, and may once other files have come.
    package static let incomplete = "incomplete"

    /// The codes of files that were not refused.
    static let keptCodes: Set = [new, late, leftOut, mutual, incomplete, GodwitError.Code.fenced.rawValue]

    /// Whether this replica needs a state of its author's.
    package var needsState: Bool { code == GodwitError.Code.fenced.rawValue || code == Self.mutual }

    /// Whether its author needs a state.
    package var hasLeftOut: Bool { code == Self.leftOut || code == Self.mutual }

    /// Whether this replica has all that it can have of it.
    package var isTaken: Bool { (code == nil || code == Self.leftOut) && doubt == nil }

    package init(
      name: String, tag: String?, code: String? = nil, at: Int64, ranges: OriginRanges = OriginRanges(), news: [UInt8]
    ) {
      self.name = name
      self.at = at
      self.tag = tag
      self.code = code
      self.ranges = ranges
      self.news = news
    }
  }

  let connection: Connection

  package init(_ connection: Connection) { self.connection = connection }

  /// By their names.
  package func list() throws -> [Remote] {
    let sql = """
      SELECT name, url, added, synced, code, message, since, found, found_at, needed, logged
        FROM godwit_remote ORDER BY name
      """
    return try connection.withStatement(sql) { statement in
      var remotes: [Remote] = []
      while try statement.step() {
        var remote = Remote(
          name: try statement.text(at: 0), url: try statement.text(at: 1), addedAt: statement.integer(at: 2))
        remote.syncedAt = statement.isNull(at: 3) ? nil : statement.integer(at: 3)
        if !statement.isNull(at: 4) {
          remote.problem = Problem(
            code: try statement.text(at: 4), message: try statement.text(at: 5), since: statement.integer(at: 6))
        }
        if !statement.isNull(at: 7) {
          let names = try statement.text(at: 7).split(separator: " ").map(String.init)
          remote.found = (names, statement.integer(at: 8))
        }
        remote.neededSince = statement.isNull(at: 9) ? nil : statement.integer(at: 9)
        remote.logged = UInt32(clamping: statement.integer(at: 10))
        remotes.append(remote)
      }
      return remotes
    }
  }

  /// Adds a remote, or notes what has changed of it.
  package func save(_ remote: Remote) throws {
    try connection.run(
      """
      INSERT OR REPLACE INTO godwit_remote
        (name, url, added, synced, code, message, since, found, found_at, needed, logged)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .text(remote.name), .text(remote.url), .integer(remote.addedAt),
        remote.syncedAt.map { .integer($0) } ?? .null, remote.problem.map { .text($0.code) } ?? .null,
        remote.problem.map { .text($0.message) } ?? .null, remote.problem.map { .integer($0.since) } ?? .null,
        remote.found.map { .text($0.names.joined(separator: " ")) } ?? .null,
        remote.found.map { .integer($0.at) } ?? .null, remote.neededSince.map { .integer($0) } ?? .null,
        .integer(Int64(remote.logged)),
      ])
  }

  /// Removes a remote with all that is noted of it.
  package func remove(_ name: String) throws {
    try connection.run("DELETE FROM godwit_remote WHERE name = ?", [.text(name)])
    try connection.run("DELETE FROM godwit_remote_file WHERE remote = ?", [.text(name)])
  }

  /// What is noted of a remote's files, by their names.
  package func files(of remote: String) throws -> [String: File] {
    try connection.withStatement(
      "SELECT name, tag, code, ranges, news, sealed, content, at, base, doubt FROM godwit_remote_file WHERE remote = ?"
    ) { statement in
      try statement.bind([.text(remote)])
      var files: [String: File] = [:]
      while try statement.step() {
        var ranges = ByteReader(statement.blob(at: 3))
        var file = File(
          name: try statement.text(at: 0), tag: statement.isNull(at: 1) ? nil : try statement.text(at: 1),
          code: statement.isNull(at: 2) ? nil : try statement.text(at: 2), at: statement.integer(at: 7),
          ranges: try OriginRanges(reading: &ranges), news: statement.blob(at: 4))
        (file.sealed, file.content, file.base) = (statement.blob(at: 5), statement.blob(at: 6), statement.blob(at: 8))
        file.doubt = statement.isNull(at: 9) ? nil : try statement.text(at: 9)
        files[file.name] = file
      }
      return files
    }
  }

  /// The names of the mailboxes that show that this replica needs a state of their authors'. Linear in what is noted.
  package func mailboxesShowingNeed() throws -> [String] {
    let sql = "SELECT name FROM godwit_remote_file WHERE name >= 'm/' AND name < 'm0' AND code IN (?, ?)"
    return try connection.withStatement(sql) { statement in
      try statement.bind([.text(GodwitError.Code.fenced.rawValue), .text(File.mutual)])
      var names: [String] = []
      while try statement.step() { names.append(try statement.text(at: 0)) }
      return names
    }
  }

  /// A member's mailbox that was fetched and refused, and is there still.
  package struct Refusal: Sendable {
    package let name: String
    package let code: String
    /// When it was refused last. Milliseconds since 1970 UTC.
    package let at: Int64
  }

  /// The mailboxes that stay refused, by their names. Linear in those that are there.
  package func refusals(of remote: String) throws -> [Refusal] {
    // One of this replica's own has a hash of its bytes.
    let sql = """
      SELECT name, code, at FROM godwit_remote_file
        WHERE remote = ? AND name >= 'm/' AND name < 'm0' AND code IS NOT NULL AND content = x'' ORDER BY name
      """
    return try connection.withStatement(sql) { statement in
      try statement.bind([.text(remote)])
      var refusals: [Refusal] = []
      while try statement.step() {
        let code = try statement.text(at: 1)
        guard !File.keptCodes.contains(code) else { continue }
        refusals.append(Refusal(name: try statement.text(at: 0), code: code, at: statement.integer(at: 2)))
      }
      return refusals
    }
  }

  package func note(_ file: File, of remote: String) throws {
    var ranges = ByteWriter()
    file.ranges.write(to: &ranges)
    try connection.run(
      """
      INSERT OR REPLACE INTO godwit_remote_file
        (remote, name, tag, doubt, code, at, ranges, sealed, content, news, base)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .text(remote), .text(file.name), file.tag.map { .text($0) } ?? .null, file.doubt.map { .text($0) } ?? .null,
        file.code.map { .text($0) } ?? .null,
        .integer(file.at), .blob(ranges.bytes), .blob(file.sealed), .blob(file.content), .blob(file.news),
        .blob(file.base),
      ])
  }

  /// Forgets which files of others' were taken, when what they brought is not here any more.
  package func forgetTaken() throws {
    // One of this replica's own has a hash of its bytes.
    try connection.execute(
      "DELETE FROM godwit_remote_file WHERE content = x'' AND (name GLOB 'm/*' OR name GLOB 'l/*')")
  }

  package func forget(_ name: String, of remote: String) throws {
    try connection.run("DELETE FROM godwit_remote_file WHERE remote = ? AND name = ?", [.text(remote), .text(name)])
  }
}
