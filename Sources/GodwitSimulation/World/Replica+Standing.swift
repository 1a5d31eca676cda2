import Godwit
import GodwitCore
import GodwitEngine
import GodwitStorage

/// Who a replica is and what it holds.
package struct Standing: Hashable, Sendable {
  package let own: Origin
  package let held: VersionVector
  /// Up to where its log is forgotten.
  package let floor: VersionVector
  /// Up to where its log or its rows are.
  package let forgotten: VersionVector
  /// The timestamp of the latest own transaction.
  package let latest: HLC
  /// The version of its tables.
  package let schemaVersion: Int
}

extension Replica {
  /// Where the replica stands, for a simulation to compare with what it must hold.
  package func standing() async throws -> Standing {
    try await read { reader in
      let connection = reader.connection
      let log = try ChangeLog(connection)
      let origins = log.origins
      return Standing(
        own: origins.own, held: origins.vector, floor: origins.floor,
        forgotten: try ForgottenVector.load(log, on: connection), latest: origins.ownLatest,
        schemaVersion: Int(try Meta.integer(.schemaVersion, on: connection)))
    }
  }

  /// An own transaction that the log still has, with its timestamp and what it was written upon.
  package func ownTransaction(
    _ sequence: SequenceNumber
  ) async throws -> (transaction: LoggedTransaction, hlc: HLC, context: VersionVector)? {
    try await transaction(Dot(standing().own, sequence))
  }

  /// A transaction of any origin that the log still has, with its timestamp and what it was written upon.
  package func transaction(
    _ dot: Dot
  ) async throws -> (transaction: LoggedTransaction, hlc: HLC, context: VersionVector)? {
    try await read { reader in
      let log = try ChangeLog(reader.connection)
      guard let record = try log.record(of: dot) else { return nil }
      let context = try log.context(of: dot)
      return (try LoggedTransaction(record, context: context), record.hlc, context)
    }
  }
}
