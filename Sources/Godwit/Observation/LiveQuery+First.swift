import GodwitModel

extension LiveQuery {
  /// The first row that a request finds, now and after every change; nil while there is none.
  public struct First: AsyncSequence, Sendable {
    /// The row, or nil while there is none.
    public typealias Element = Request.Element?

    fileprivate let rows: LiveQuery

    /// A loop of its own, which begins with what is there now.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rows: rows.makeAsyncIterator()) }

    /// Observes from the first ``next()`` on, for as long as it is kept.
    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate var rows: LiveQuery.AsyncIterator

      /// The next state of the row; nil at the end, and a nil inside while there is no row.
      ///
      /// - Throws: What the request throws, such as `notInSchema`; that ends the observation.
      public mutating func next() async throws -> Request.Element?? {
        guard let rows = try await rows.next() else { return nil }
        return .some(rows.first)
      }
    }
  }
}

extension Replica {
  /// Observes the first row that a request finds: `replica.observe(first: Note.order(by: \.views, .descending))`.
  ///
  /// A change of other rows is no change: the row comes again only when it differs.
  public func observe<Request: FetchRequest>(first request: Request) -> LiveQuery<Request>.First {
    LiveQuery<Request>.First(rows: observe(request.limit(1)))
  }

  /// Observes the model with this key: `for try await note in replica.observe(Note.self, key: id)`, nil while there is
  /// none. What it costs after each write to the table is a look by the key.
  public func observe<Root: Model>(_ type: Root.Type, key: Root.ID) -> LiveQuery<Query<Root>>.First {
    observe(first: Query<Root>.row(key))
  }
}
