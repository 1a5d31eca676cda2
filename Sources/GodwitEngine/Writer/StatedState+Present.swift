import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// What this replica states of its tables, for others to compare with theirs (Specs/state-hash.md, "Comparing").
extension StatedState {
  /// What stands in the database as a reader sees it.
  static func present(_ connection: Connection, _ catalog: Catalog, _ log: ChangeLog) throws -> StatedState {
    let sums = try StateTally.stored(connection, catalog, log.origins)
    let state = StateHash(catalog.synced.map { ($0.definition.name, sums[$0.id] ?? .zero) })
    return try present(state, connection, catalog)
  }

  /// None while rows wait here: one may wait for a constraint that this replica alone has.
  static func present(_ state: StateHash, _ connection: Connection, _ catalog: Catalog) throws -> StatedState {
    guard try !Limbo.any(on: connection) else { return .none }
    var writer = ByteWriter()
    writer.varint(UInt64(try Meta.integer(.schemaVersion, on: connection)))
    let tables = catalog.synced.map(\.definition).filter { !$0.isCollection }
    let sorted = tables.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    for table in sorted { table.write(to: &writer) }
    let hash = writer.bytes.withUnsafeBytes { ContentHash(of: $0) }.bytes
    let schema = hash.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return StatedState(schema: max(1, schema), hash: state)
  }
}
