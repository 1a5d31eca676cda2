import GodwitBase
import GodwitModel
import GodwitEngine
import GodwitStorage

/// What a request finds, now and after every change: a sequence that ends when its task is cancelled or the replica is
/// closed.
///
/// The first value comes at once. A new one follows when a row that the request reads has changed, by a transaction,
/// an import, or another process on the same folder, which is noticed within about a second; and when a document that
/// the request finds expires. A slow loop gets only the newest state, and an equal result is not given again. Each loop
/// over an observation observes on its own.
///
/// The request is run for a loop that waits, on a reader's thread, after each transaction that may have written one
/// of its tables; writers never wait for it. Each run is linear in the rows it finds.
public struct LiveQuery<Request: FetchRequest>: AsyncSequence, Sendable {
  /// All rows that the request finds at one moment.
  public typealias Element = [Request.Element]

  fileprivate let replica: Replica
  fileprivate let request: Request

  /// A loop of its own, which begins with what is there now.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(replica: replica, request: request) }

  /// Observes from the first ``next()`` on, for as long as it is kept.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private enum State {
      case new
      case running(Wakes)
      case ended
    }

    private let replica: Replica
    private let request: Request
    private var state = State.new
    private var latest: RowFingerprint?

    fileprivate init(replica: Replica, request: Request) {
      self.replica = replica
      self.request = request
    }

    /// The next result; nil at the end.
    ///
    /// - Throws: What the request throws, such as `notInSchema`; that ends the observation.
    public mutating func next() async throws -> [Request.Element]? {
      guard var wakes = start() else { return nil }
      // Whatever happens but a value ends it, and with the last copy of the wakes the observer goes.
      state = .ended
      do {
        while await wakes.next(replica.documentClock) {
          let (result, fingerprint, nextChange) = try await read()
          wakes.nextChange = nextChange
          guard fingerprint != latest else { continue }
          latest = fingerprint
          state = .running(wakes)
          return result
        }
        return nil
      } catch is CancellationError {
        return nil
      } catch let error as GodwitError where error.code == .closed {
        return nil
      }
    }

    private func start() -> Wakes? {
      switch state {
      case .new: replica.wakes(on: request)
      case .running(let wakes): wakes
      case .ended: nil
      }
    }

    private func read() async throws -> (result: [Request.Element], fingerprint: RowFingerprint, nextChange: Int64?) {
      try await replica.read { [request] reader in
        // First: what expires between the two is not in the result.
        let nextChange = try request.request.nextChange(on: reader.connection)
        let (result, fingerprint) = try reader.connection.fingerprint { try reader.fetch(request) }
        return (result, fingerprint, nextChange)
      }
    }
  }
}

/// When an observation is to look again: after changes, and when time has come.
private struct Wakes {
  private var changes: AsyncStream<Void>.Iterator
  private let wake: AsyncStream<Void>.Continuation
  /// When time alone makes the result another, in milliseconds since 1970 UTC.
  var nextChange: Int64?
  /// A clock may be set, or take the time from others, while one waits for it.
  private static let longestSleepMilliseconds: Int64 = 1_000

  init(_ wakes: (stream: AsyncStream<Void>, wake: AsyncStream<Void>.Continuation)) {
    changes = wakes.stream.makeAsyncIterator()
    wake = wakes.wake
  }

  /// False at the end.
  mutating func next(_ clock: DocumentClock) async -> Bool {
    let timer = nextChange.map { instant in
      Task { [wake] in
        while case let rest = instant - clock.now, rest > 0 {
          try await Task.sleep(for: .milliseconds(min(rest, Self.longestSleepMilliseconds)))
        }
        wake.yield()
      }
    }
    defer { timer?.cancel() }
    return await changes.next() != nil
  }
}

extension Replica {
  /// Observes what a request finds: `for try await notes in replica.observe(Note.where { $0.views > 3 })`.
  public func observe<Request: FetchRequest>(_ request: Request) -> LiveQuery<Request> {
    LiveQuery(replica: self, request: request)
  }

  fileprivate func wakes(on request: some FetchRequest) -> Wakes {
    // A request that names no table may read any.
    Wakes(wakes(on: request.request.tables, startsAwake: true))
  }

  /// Wakes after each change of the tables, of all when none are named: of this process at once, of another one within
  /// a second. It ends when the replica is closed.
  package func changes(of tables: some Collection<String>) -> AsyncStream<Void> {
    wakes(on: tables, startsAwake: false).stream
  }

  /// The same, with what gives one more.
  func wakes(
    on tables: some Collection<String>, startsAwake: Bool
  ) -> (stream: AsyncStream<Void>, wake: AsyncStream<Void>.Continuation) {
    changes.wakes(
      on: tables.isEmpty ? .all : TableSet(tables), startsAwake: startsAwake, log: "\(folder.database)-wal"
    ) { [pool] in
      _ = try await pool.write { try $0.foreignCommits.look() != nil }
    }
  }
}
