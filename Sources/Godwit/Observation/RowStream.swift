import GodwitBase
import GodwitModel
import GodwitEngine
import GodwitStorage

/// The rows that a request finds, one after another: a sequence that holds few of them in memory, of however many.
///
/// All are of one state of the database, whatever is written meanwhile. They are read by a thread and a connection of
/// their own, some 500 rows ahead of the loop. A loop that takes long keeps the database's log from being shortened, so
/// one that waits for a person or a network should use ``/GodwitModel/Query/page(after:limit:)``.
///
/// Each loop reads anew. It may be left before its end.
public struct RowStream<Request: FetchRequest>: AsyncSequence, Sendable {
  /// What one row becomes.
  public typealias Element = Request.Element

  fileprivate let replica: Replica
  fileprivate let request: Request

  /// A loop of its own; it begins to read with the first ``AsyncIterator/next()``.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(replica: replica, request: request) }

  /// Reads for as long as it is kept.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let replica: Replica
    private let request: Request
    private var reading: Reading?
    private var portion = ArraySlice<Element>()

    fileprivate init(replica: Replica, request: Request) {
      self.replica = replica
      self.request = request
    }

    /// The next row; nil after the last.
    ///
    /// - Throws: What ``Replica/fetch(_:)`` throws; `CancellationError` when the task is cancelled, and `closed` when
    ///   the replica is: the rows are not all then.
    public mutating func next() async throws -> Element? {
      if let row = portion.popFirst() { return row }
      let reading = try reading ?? Reading(replica, request)
      self.reading = reading
      portion = try await reading.channel.next()?[...] ?? []
      return portion.popFirst()
    }
  }

  /// Ends the reading when the last iterator goes.
  private final class Reading: Sendable {
    let channel: RowChannel<Element>

    init(_ replica: Replica, _ request: Request) throws {
      channel = try replica.pool.rows { connection, give in
        let reader = Reader(connection)
        defer { reader.end() }
        try reader.forEach(request, give)
      }
    }

    deinit { channel.stop(CancellationError()) }
  }
}

extension Replica {
  /// Reads what a request finds row by row: `for try await note in replica.stream(Note.all)`.
  public func stream<Request: FetchRequest>(_ request: Request) -> RowStream<Request> {
    RowStream(replica: self, request: request)
  }
}
