import Foundation
import Godwit
import GodwitCore
import GodwitStorage

@testable import Godwit
@testable import GodwitEngine

extension Replica {
  /// Makes a table as a model would declare it.
  func makeTable(_ definition: TableDefinition) async throws {
    try await withWriter { writer in
      try writer.inTransaction {
        try Catalog.ensure([definition], on: writer.connection)
        try writer.reload()
      }
    }
  }

  /// Closes with everything in the database file itself.
  func closeIntoOneFile() async throws {
    try await withWriter { _ = try $0.connection.scalar("PRAGMA wal_checkpoint(TRUNCATE)") }
    await close()
    for suffix in ["-wal", "-shm"] { unlink(folder.database + suffix) }
  }

  /// The database file and its key, for a connection that is not Godwit's own.
  func databaseKey() async throws -> (path: String, key: any CipherKey) {
    let database = folder.database
    return try await withKeyring { contents, _ in (database, contents.databaseKey) }
  }
}
