import GodwitBase
import GodwitKeys
import GodwitCore
import GodwitStorage
import GodwitSyncFile

extension KnownStatements {
  /// What others have signed of themselves counts once all of it is held here, by the same history.
  func weighPending(_ acknowledgements: inout Acknowledgements, held: VersionVector, _ writer: ReplicaWriter) throws {
    let log = writer.log
    for statement in try pending() where held.covers(statement.vector) {
      let chains = try SignedStatement.hash(statement.vector) { try log.chain(at: $0) }
      if chains == statement.chains {
        try acknowledgements.count(MemberStatement(statement), of: statement.origin)
        try compareState(statement, writer)
      }
      try settle(statement.origin)
    }
  }

  /// Who holds the same must have the same in its tables.
  private func compareState(_ statement: SignedStatement, _ writer: ReplicaWriter) throws {
    let log = writer.log
    guard statement.vector == log.origins.vector else { return }
    try writer.tally.flush(through: log.origins.ownKey)
    let own = try StateStatement.present(writer.tally.state, connection, writer.catalog)
    guard own.isComparable(with: statement.state) else { return }
    try note(differs: own.contradicts(statement.state), statement.origin)
  }
}
