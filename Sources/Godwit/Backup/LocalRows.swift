import GodwitBase
import GodwitEngine
import GodwitModel
import GodwitStorage

/// The rows of the tables that are in no log and that nobody else holds: those that are not synced, and those that
/// Godwit knows nothing of (Specs/backup.md, "Restoring").
struct LocalRows {
  /// By table; of those that have rows.
  private let fingerprints: [String: RowFingerprint]

  /// Linear in these rows.
  init(_ connection: Connection) throws {
    let catalog = try Catalog(connection)
    let sql = "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
    let parts = try connection.rows(sql, authority: .trusted).map { (name: $0.text(at: 0), sql: $0.text(at: 1)) }
    let virtual = VirtualTables(parts)
    var fingerprints: [String: RowFingerprint] = [:]
    for (name, _) in parts {
      let isOwn = ["godwit_", "sqlite_"].contains(where: name.lowercased().hasPrefix)
      guard !isOwn, !virtual.own(name), catalog[name]?.definition.isSynced != true else { continue }
      let (hasRows, fingerprint) = try connection.fingerprint {
        try connection.withStatement("SELECT * FROM \(SQLName.quoted(name))") { statement in
          guard try statement.step() else { return false }
          while try statement.step() {}
          return true
        }
      }
      if hasRows { fingerprints[name] = fingerprint }
    }
    self.fingerprints = fingerprints
  }

  /// The tables of which others' rows are not these, by name.
  func tables(differingFrom other: LocalRows) -> [String] {
    fingerprints.filter { other.fingerprints[$0.key] != $0.value }.keys.sorted()
  }
}
