import GodwitBase
import GodwitEngine
import GodwitRemotes
import GodwitStorage

extension Replica {
  /// Keeps this replica in sync with its remotes until the task is cancelled: at once, soon after something was written
  /// here, by whatever process, and again and again.
  ///
  /// What is written goes out two seconds after the last write, ten after the first at the latest. A remote that fails
  /// is asked after pauses that become twice as long each time, up to a quarter of an hour, and keeps no other one
  /// waiting but for its sync itself. Pauses differ by a fifth at random. Remotes may be added and removed meanwhile.
  /// A replica that is idle is not written to, but once an hour to note when it was synced. When nothing was written
  /// for a minute, at most once a day, it forgets what all members hold, as ``Maintenance/compact()`` does. Where this
  /// replica's own folder cannot be written for five minutes, its remotes are reported to fail by that.
  ///
  /// - Parameters:
  ///   - names: The remotes; all that there are, each time, when empty.
  ///   - interval: The pause between two syncs of a remote while nothing is written here, from 1 second to 1 day.
  ///   - isCollecting: As ``sync(with:isRejoining:isCollecting:maximumBytesPerSecond:progress:)`` has it.
  ///   - maximumBytesPerSecond: The same.
  ///   - report: Called after the sync of each remote, with what it did or what it failed with.
  /// - Throws: `CancellationError` when the task is cancelled; `invalidArgument` for an interval or limit out of range
  ///   and for a name that no remote has, also when it is removed later; `closed`, `readOnly`, `diskFull`,
  ///   `damagedDatabase`, `damagedLog`; `fileAccess` when the database cannot be read for five minutes; what `report`
  ///   throws. Another process that has this replica is waited for.
  public func keepInSync(
    with names: [String] = [], every interval: Duration = .seconds(60), isCollecting: Bool = false,
    maximumBytesPerSecond: Int? = nil, report: @Sendable (SyncReport) async throws -> Void = { _ in }
  ) async throws {
    guard interval >= .seconds(1), interval <= .seconds(86_400) else {
      throw GodwitError(
        .invalidArgument, "an interval of \(interval) is out of range", hint: "1 second is the least, 1 day the most")
    }
    let pace = try maximumBytesPerSecond.map { try TransferPace(bytesPerSecond: $0) }
    try await keepInSync(with: names, every: interval, SyncOutage(), report) { name in
      try await sync(with: [name], isCollecting: isCollecting, pace: pace, isSparing: true)
    }
  }

  /// - Parameters:
  ///   - outage: None yet.
  ///   - sync: Syncs with one remote.
  func keepInSync(
    with names: [String], every interval: Duration, _ outage: SyncOutage,
    _ report: @Sendable (SyncReport) async throws -> Void, _ sync: (String) async throws -> SyncReport
  ) async throws {
    var wakes = SyncWakes(wakes(on: [], startsAwake: false))
    var schedule = SyncSchedule(interval: interval)
    var (reading, syncing) = (outage, outage)
    var former: Counts?
    var care: CareSchedule?
    while true {
      let now = ContinuousClock.now
      switch try await attempt({ (try await remotes.list().map(\.name), try await counts()) }) {
      case .later(let error):
        if reading.isLong(error, at: now) { throw error }
        try await wakes.next(until: now + SyncSchedule.patience)
        continue
      case .done((let present, let counts)):
        reading.noteSuccess()
        schedule.set(names.isEmpty ? present : names, at: now)
        if let former, former.own != counts.own { schedule.noteChange(at: now) }
        former = counts
        care = care ?? CareSchedule(count: counts.all, at: now)
        care?.note(counts.all, at: now)
      }
      let due = schedule.due(at: now)
      if !due.isEmpty {
        schedule.begin(at: now)
        // One by one, so that what one has brought is reported whatever becomes of the next.
        for name in due {
          let attempt = try await attempt(mayBeGone: names.isEmpty) { try await sync(name) }
          guard let done = Self.report(attempt, of: name, &schedule, &syncing) else { continue }
          try await report(done)
        }
      } else if let instant = care?.next, instant <= now {
        _ = try await attempt { try await maintenance.compact() }
        care?.finish(at: .now)
      } else {
        try await wakes.next(until: [schedule.next, care?.next, now + interval].compactMap(\.self).min() ?? now)
      }
    }
  }

  /// Notes how a remote's turn ended, and returns what is to be reported of it; nil when it has another turn soon.
  private static func report(
    _ attempt: Attempt<SyncReport>, of name: String, _ schedule: inout SyncSchedule, _ outage: inout SyncOutage
  ) -> SyncReport? {
    var report: SyncReport
    switch attempt {
    case .done(let done):
      outage.noteSuccess()
      report = done
    case .later(let error):
      guard outage.isLong(error, at: .now) else {
        schedule.postpone([name], at: .now)
        return nil
      }
      report = SyncReport(remotes: [SyncReport.Remote(name: name, error: error)])
    }
    for remote in report.remotes {
      schedule.finish(remote.name, isFailed: remote.error != nil, at: .now, random: .random(in: 0...1))
    }
    return report
  }

  private enum Attempt<Output> {
    case done(Output)
    /// This replica is busy, or its folder cannot be reached for now; or a remote is gone that was there a moment ago.
    case later(GodwitError)
  }

  private func attempt<Output>(
    mayBeGone: Bool = false, _ body: () async throws -> Output
  ) async throws -> Attempt<Output> {
    do {
      return .done(try await body())
    } catch let error as GodwitError where [.busy, .fileAccess].contains(error.code) {
      return .later(error)
    } catch let error as GodwitError where mayBeGone && error.code == .invalidArgument {
      return .later(error)
    }
  }

  /// How many transactions this replica has written, and how many it has in all.
  private struct Counts {
    var own: UInt64 = 0
    var all: UInt64 = 0
  }

  private func counts() async throws -> Counts {
    let own = identity.replica
    return try await pool.read { connection in
      let held = try ChangeLog(connection).origins.vector
      return held.origins.reduce(into: Counts()) { counts, origin in
        let count = UInt64(held[origin].rawValue)
        counts.all += count
        if origin.replica == own { counts.own += count }
      }
    }
  }
}

/// When a replica that keeps itself in sync is to look again: after changes, and when time has come.
private struct SyncWakes {
  private var changes: AsyncStream<Void>.Iterator
  private let wake: AsyncStream<Void>.Continuation

  init(_ wakes: (stream: AsyncStream<Void>, wake: AsyncStream<Void>.Continuation)) {
    changes = wakes.stream.makeAsyncIterator()
    wake = wakes.wake
  }

  mutating func next(until instant: ContinuousClock.Instant) async throws {
    let timer = Task { [wake] in
      try await Task.sleep(until: instant, clock: .continuous)
      wake.yield()
    }
    defer { timer.cancel() }
    let isOpen = await changes.next() != nil
    try Task.checkCancellation()
    guard isOpen else { throw GodwitError(.closed, "the replica is closed") }
  }
}
