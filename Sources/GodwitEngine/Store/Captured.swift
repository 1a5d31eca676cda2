import GodwitBase
import GodwitCore

/// What a transaction changed.
struct Captured {
  /// The encoded ``ChangeSet``.
  let changes: [UInt8]
  /// The columns beside the key of the rows it deletes, in the order of the delete operations.
  let deletedCells: [UInt8]
  /// What has been hashed and compressed of the operations already.
  var pieces: PieceWorker.Finished?
  /// What an own transaction adds to the sums of its tables.
  var sums: [(table: Int, sum: StateSum)] = []
  /// The sums that the log entry holds, as bytes.
  var entrySums: [UInt8] = []
}
