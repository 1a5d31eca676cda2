import GodwitBase
import GodwitKeys
import GodwitCore
import GodwitStorage

/// The origins of which two histories were shown, until they are mended (`godwit_fork`; Specs/incarnations.md,
/// "Forks").
package struct KnownForks {
  static let creation = """
    CREATE TABLE godwit_fork (replica BLOB NOT NULL, incarnation INTEGER NOT NULL, sequence INTEGER NOT NULL,
      shown_by BLOB NOT NULL, PRIMARY KEY (shown_by, replica, incarnation)) WITHOUT ROWID;
    """

  let connection: Connection

  package init(connection: Connection) { self.connection = connection }

  package struct Fork {
    package let replica: ReplicaID
    /// The first number known to stand for two transactions.
    package let sequence: UInt64
    package let shownBy: ReplicaID
  }

  /// Notes what a member's file shows, in place of what its files have shown before.
  func note(_ parted: [Origin: SequenceNumber], shownBy member: ReplicaID) throws {
    try connection.run("DELETE FROM godwit_fork WHERE shown_by = ?", [member.column])
    for (origin, sequence) in parted {
      try connection.run(
        "INSERT INTO godwit_fork (replica, incarnation, sequence, shown_by) VALUES (?, ?, ?, ?)",
        origin.columns + [.integer(Int64(sequence.rawValue)), member.column])
    }
  }

  /// What a member's files have shown: of each origin the first number known to stand for two transactions.
  func shown(by member: ReplicaID) throws -> [Origin: SequenceNumber] {
    let sql = "SELECT replica, incarnation, sequence FROM godwit_fork WHERE shown_by = ?"
    return try connection.withStatement(sql) { statement in
      try statement.bind([member.column])
      var shown: [Origin: SequenceNumber] = [:]
      while try statement.step() {
        shown[try Origin(columnsOf: statement)] = SequenceNumber(rawValue: UInt64(bitPattern: statement.integer(at: 2)))
      }
      return shown
    }
  }

  /// Drops what members showed of whom nothing is taken any more.
  func forget(shownBy isGone: (ReplicaID) -> Bool) throws {
    for fork in try list() where isGone(fork.shownBy) {
      try connection.run("DELETE FROM godwit_fork WHERE shown_by = ?", [fork.shownBy.column])
    }
  }

  /// Drops all: the state that stood on one of the histories is replaced.
  func removeAll() throws { try connection.run("DELETE FROM godwit_fork") }

  /// All of them, by who showed them.
  package func list() throws -> [Fork] {
    let sql = "SELECT replica, incarnation, sequence, shown_by FROM godwit_fork ORDER BY shown_by, replica, incarnation"
    return try connection.withStatement(sql) { statement in
      var forks: [Fork] = []
      while try statement.step() {
        forks.append(
          Fork(
            replica: try Origin(columnsOf: statement).replica, sequence: UInt64(bitPattern: statement.integer(at: 2)),
            shownBy: try ReplicaID(column: statement.blob(at: 3))))
      }
      return forks
    }
  }
}
