import GodwitBase
import GodwitReplication
import GodwitStorage
import GodwitSyncFile

/// Takes in a snapshot where a replica lacks what has been forgotten (Specs/snapshot.md, "Taking one in").
struct SnapshotImport {
  private let file: SyncFileReader
  private let head: SnapshotHead
  private let writer: ReplicaWriter

  init(_ file: SyncFileReader, _ head: SnapshotHead, writer: ReplicaWriter) {
    self.file = file
    self.head = head
    self.writer = writer
  }

  func run(_ progress: ProgressHandler?) throws {
    guard writer.log.origins.vector.isEmpty else {
      throw GodwitError(
        .fenced, "this replica lacks what the others hold and have forgotten", hint: "nothing was changed")
    }
    try SnapshotLoader(file, head, writer: writer).run(progress)
    try writer.reload()
  }
}
