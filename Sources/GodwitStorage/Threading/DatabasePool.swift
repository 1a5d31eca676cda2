import Foundation
import GodwitBase
import Synchronization

/// One writer and several snapshot readers over one database file, each on a thread of its own.
package final class DatabasePool<Writer: DatabaseSession>: Sendable {
  private let writer: DatabaseThread<Writer>
  private let readers: [DatabaseThread<Connection>]
  private let checkpointer: Checkpointer
  private let free: FreeReaders
  /// Makes a reader beside the others, which is used once.
  private let makeReader: @Sendable () -> DatabaseThread<Connection>
  /// The rows that are on their way; nil when the pool is closed.
  private let channels = Mutex<[WeakProducer]?>([])

  /// Ten years.
  private static var longestIdleSeconds: Double { 10 * 365 * 86_400 }

  package typealias Connect = @Sendable (Connection.Mode, CancellationFlag) throws -> Connection

  /// Readers open when first used. A connection whose file is no longer the database's is replaced before its next job.
  ///
  /// - Parameters:
  ///   - isReadOnly: Whether the writer's connection is a reader's, too.
  ///   - prepareReader: Readies a new reader's connection (functions, protected tables).
  ///   - warmsUp: Whether the first reader opens ahead of its first use, beside `makeWriter`, where there are tables
  ///     already.
  ///   - makeWriter: Readies the writer's connection, and makes what uses it.
  package init(
    readerCount: Int = 4, isReadOnly: Bool = false, idleSeconds: Double? = nil, warmsUp: Bool = false,
    connect: @escaping Connect, prepareReader: @escaping @Sendable (Connection) throws -> Void,
    makeWriter: @escaping @Sendable (Connection) throws -> Writer
  ) {
    // No clock counts further than some centuries.
    let idleSeconds = idleSeconds.map { min($0, Self.longestIdleSeconds) }
    let closing = NSLock()
    let checkpointer = Checkpointer(idleSeconds: idleSeconds, closing: closing) { try connect(.reader, $0) }
    let reader: @Sendable (String, Double?) -> DatabaseThread<Connection> = { name, idleSeconds in
      DatabaseThread(name: name, idleSeconds: idleSeconds, closing: closing) {
        let connection = try connect(.reader, $0)
        try prepareReader(connection)
        return connection
      }
    }
    let readers = (0..<readerCount).map { reader("godwit-reader-\($0)", idleSeconds) }
    makeReader = { reader("godwit-rows", nil) }
    writer = DatabaseThread(name: "godwit-writer", idleSeconds: idleSeconds, closing: closing) {
      let connection = try connect(isReadOnly ? .reader : .writer, $0)
      if warmsUp, !connection.wasEmpty { readers.first?.warmUp() }
      let writer = try makeWriter(connection)
      if !isReadOnly { checkpointer.observe(connection) }
      return writer
    }
    self.checkpointer = checkpointer
    self.readers = readers
    free = FreeReaders(count: readerCount)
  }

  /// Runs the body on the writer's thread, one after another.
  package func write<Output: Sendable>(
    _ body: @escaping @Sendable (Writer) throws -> Output
  ) async throws -> Output {
    for _ in 0..<attempts {
      do { return try await writer.run(body) } catch is DatabaseMoved {}
    }
    throw GodwitError(.busy, "the database is being exchanged time and again", hint: "try again")
  }

  /// How often a job is begun anew because another file has become the database meanwhile.
  private let attempts = 20

  /// Runs the body in a read transaction: it sees one state, and neither waits for the writer nor holds it up.
  package func read<Output: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Output
  ) async throws -> Output {
    try await readOnce { connection in try connection.reading { try body(connection) } }
  }

  /// The same for a body that runs one statement, which sees one state by itself.
  package func readOnce<Output: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Output
  ) async throws -> Output {
    let number = try await free.take()
    defer { free.giveBack(number) }
    return try await readers[number].run(body)
  }

  /// Rows that the body gives one by one, in a read transaction on a thread of its own, as fast as they are taken: it
  /// waits for its loop as long as that takes, and no other reader waits for it.
  package func rows<Element: Sendable>(
    _ body: @escaping @Sendable (Connection, _ give: (Element) throws -> Void) throws -> Void
  ) throws -> RowChannel<Element> {
    try channels.withLock { channels in
      guard channels != nil else { throw GodwitError(.closed, "the replica is closed") }
      let channel = RowChannel<Element>(makeReader(), body)
      channels?.removeAll { $0.producer == nil }
      channels?.append(WeakProducer(producer: channel))
      return channel
    }
  }

  private struct WeakProducer { weak var producer: (any RowProducer)? }

  private func stopRows() async {
    let stopped = channels.withLock { channels in
      defer { channels = nil }
      return (channels ?? []).compactMap(\.producer)
    }
    for channel in stopped { channel.stop(GodwitError(.closed, "the replica was closed")) }
    for channel in stopped { await channel.hasEnded() }
  }

  /// A pool that nobody closed gives its files and threads back when nobody can use it any more.
  deinit {
    Task.detached { [readers, checkpointer, writer] in
      await Self.close(readers, writer, checkpointer)
    }
  }

  /// Throws `closed` at all jobs from now on, lets those that wait finish, closes the connections and gives the threads
  /// back.
  ///
  /// - Parameter last: A job of the writer's thread that comes after all others, unless the writer was never used, the
  ///   pool is closed already, or the database cannot be opened.
  package func close(after last: (@Sendable (Writer) -> Void)? = nil) async {
    writer.refuse(after: last)
    free.refuse()
    await stopRows()
    await free.areGivenBack()
    await Self.close(readers, writer, checkpointer)
  }

  /// The checkpointer goes last: the writer may wait for it until its own end.
  private static func close(
    _ readers: [DatabaseThread<Connection>], _ writer: DatabaseThread<Writer>, _ checkpointer: Checkpointer
  ) async {
    for reader in readers { await reader.close() }
    await writer.close()
    await checkpointer.close()
  }
}

extension DatabasePool where Writer == Connection {
  /// A pool whose writer is a connection and nothing more. `prepare` readies each new connection.
  package convenience init(
    readerCount: Int = 4, idleSeconds: Double? = nil, prepare: @escaping @Sendable (Connection) throws -> Void,
    connect: @escaping Connect
  ) {
    self.init(readerCount: readerCount, idleSeconds: idleSeconds, connect: connect, prepareReader: prepare) {
      try prepare($0)
      return $0
    }
  }
}
