import GodwitBase
import GodwitEngine
import GodwitStorage

/// What the writer's thread of a replica works with, for as long as its connection is open: a writer, or only a look at
/// what others commit.
final class ReplicaSession: DatabaseSession {
  let connection: Connection
  let foreignCommits: ForeignCommits
  /// Nil when the replica was opened to be read.
  let writer: ReplicaWriter?

  init(writing writer: ReplicaWriter) {
    (connection, foreignCommits) = (writer.connection, writer.foreignCommits)
    self.writer = writer
  }

  init(reading connection: Connection, _ foreignCommits: ForeignCommits) {
    (self.connection, self.foreignCommits, writer) = (connection, foreignCommits, nil)
  }

  func willClose() { writer?.anchor.noteState() }

  /// Throws `readOnly` when the replica was opened to be read.
  func requireWriter() throws -> ReplicaWriter {
    guard let writer else {
      throw GodwitError(.readOnly, "the replica was opened to be read", hint: "open it once more, to write")
    }
    return writer
  }
}
