import Foundation
import GodwitBase
import Synchronization

/// One writer and several snapshot readers over one database file, each on a thread of its own.
package final class DatabasePool: Sendable {
  private let writer: DatabaseThread
  private let readers: [DatabaseThread]
  private let checkpointer: Checkpointer
  private let load: Mutex<[Int]>

  package typealias Connect = @Sendable (Connection.Mode, CancellationFlag) throws -> Connection

  /// A pool over a database whose key never changes.
  package convenience init(
    path: String, key: any CipherKey, readerCount: Int = 4, isReadOnly: Bool = false, idleSeconds: Double? = nil,
    prepare: @escaping @Sendable (Connection) throws -> Void
  ) {
    self.init(readerCount: readerCount, isReadOnly: isReadOnly, idleSeconds: idleSeconds, prepare: prepare) {
      try Connection(path: path, key: key, mode: $0, cancellation: $1)
    }
  }

  /// Readers open when first used. `prepare` readies each new connection (functions, protected tables). Of a pool that
  /// is read-only the writer's connection is a reader's too. A connection whose file is no longer the database's is
  /// replaced before its next job.
  package init(
    readerCount: Int = 4, isReadOnly: Bool = false, idleSeconds: Double? = nil,
    prepare: @escaping @Sendable (Connection) throws -> Void, connect: @escaping Connect
  ) {
    @Sendable func make(_ mode: Connection.Mode, _ cancellation: CancellationFlag) throws -> Connection {
      let connection = try connect(mode, cancellation)
      try prepare(connection)
      return connection
    }
    let closing = NSLock()
    let checkpointer = Checkpointer(idleSeconds: idleSeconds, closing: closing) { try connect(.reader, $0) }
    writer = DatabaseThread(name: "godwit-writer", idleSeconds: idleSeconds, closing: closing) {
      let connection = try make(isReadOnly ? .reader : .writer, $0)
      if !isReadOnly { checkpointer.observe(connection) }
      return connection
    }
    self.checkpointer = checkpointer
    readers = (0..<readerCount).map { index in
      DatabaseThread(name: "godwit-reader-\(index)", idleSeconds: idleSeconds, closing: closing) {
        try make(.reader, $0)
      }
    }
    load = Mutex(Array(repeating: 0, count: readerCount))
  }

  /// Runs the body on the writer's thread, one after another.
  package func write<Output: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Output
  ) async throws -> Output {
    for _ in 0..<Self.attempts {
      do { return try await writer.run(body) } catch is DatabaseMoved {}
    }
    throw GodwitError(.busy, "the database is being exchanged time and again", hint: "try again")
  }

  /// How often a job is begun anew because another file has become the database meanwhile.
  private static let attempts = 20

  /// Runs the body in a read transaction: it sees one state, and neither waits for the writer nor holds it up.
  package func read<Output: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Output
  ) async throws -> Output {
    try await readOnce { connection in
      try connection.execute("BEGIN")
      defer { try? connection.execute("ROLLBACK") }
      return try body(connection)
    }
  }

  /// The same for a body that runs one statement, which sees one state by itself.
  package func readOnce<Output: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Output
  ) async throws -> Output {
    let index = load.withLock { load in
      let least = load.indices.min { load[$0] < load[$1] } ?? 0
      load[least] += 1
      return least
    }
    defer { load.withLock { $0[index] -= 1 } }
    return try await readers[index].run(body)
  }

  /// A pool that nobody closed gives its files and threads back when nobody can use it any more.
  deinit {
    Task.detached { [readers, checkpointer, writer] in
      await Self.close(readers, writer, checkpointer)
    }
  }

  /// Opens the first reader ahead of its first use, beside whatever the caller does next.
  package func warmUp() { readers.first?.warmUp() }

  /// Throws `closed` at all jobs from now on, lets those that wait finish, closes the connections and ends the threads.
  ///
  /// - Parameter last: A job of the writer's thread that comes after all others, unless the writer was never used, the
  ///   pool is closed already, or the database cannot be opened.
  package func close(after last: (@Sendable (Connection) -> Void)? = nil) async {
    writer.refuse(after: last)
    for reader in readers { reader.refuse() }
    await Self.close(readers, writer, checkpointer)
  }

  /// The checkpointer goes last: the writer may wait for it until its own end.
  private static func close(
    _ readers: [DatabaseThread], _ writer: DatabaseThread, _ checkpointer: Checkpointer
  ) async {
    for reader in readers { await reader.close() }
    await writer.close()
    await checkpointer.close()
  }
}
