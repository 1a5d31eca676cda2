import Godwit
import GodwitPages
import ToolSupport

/// What all open pages of one run share: the replica, and what is to be said to each of them.
actor UISession {
  /// What an open page is sent.
  enum Event: Sendable {
    /// The database may hold something else.
    case changed
    /// A sync has ended: what it did, and what was wrong.
    case synced(lines: [String], problems: [String])
  }

  /// How many pages may wait for events at a time.
  private static let pageLimit = 32
  /// Changes that come faster are one.
  private static let pause = Duration.milliseconds(300)

  private let replica: Replica
  /// By numbers that grow.
  private var pages: [Int: AsyncStream<Event>.Continuation] = [:]
  private var nextPage = 0
  private var isSyncing = false

  init(_ replica: Replica) { self.replica = replica }

  /// Sends each change to the pages, until the replica is closed or the task is cancelled.
  func watch() async {
    for await _ in replica.changes(of: []) {
      send(.changed)
      guard (try? await Task.sleep(for: Self.pause)) != nil else { return }
    }
  }

  /// The events from now on, for one page. Where too many wait the first ends: that a page was closed is known only
  /// seconds later.
  func events() -> AsyncStream<Event> {
    if pages.count >= Self.pageLimit, let first = pages.keys.min() { pages.removeValue(forKey: first)?.finish() }
    let (events, sender) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(16))
    let number = nextPage
    nextPage += 1
    pages[number] = sender
    sender.onTermination = { [weak self] _ in Task { await self?.remove(number) } }
    return events
  }

  private func remove(_ number: Int) { pages[number] = nil }

  private func send(_ event: Event) {
    for page in pages.values { page.yield(event) }
  }

  /// The page as it is now.
  func page() async throws -> HTML {
    let picture = try await ReplicaPicture(of: replica)
    return ReportPage(picture, .init(showsValues: true, isLive: true)).body
  }

  /// Writes again what lost; whether anything had to be written.
  func restore(_ conflict: Conflict.ID) async throws -> Bool { try await replica.conflicts.restore(conflict) }

  /// Why the row of a conflict is so.
  func why(_ conflict: Conflict.ID) async throws -> HTML {
    guard let found = try await replica.conflicts.show(conflict) else {
      throw GodwitError(.notFound, "there is no conflict \(conflict)", hint: "it may have been dropped")
    }
    return try await story(found.table, found.key)
  }

  /// Why a row is so, by the key as a person writes it.
  func why(_ table: String, _ key: String) async throws -> HTML {
    let table = try await replica.table(orCollection: table)
    return try await story(table.name, KeyArguments([key], of: table).key)
  }

  private func story(_ table: String, _ key: [Value]) async throws -> HTML {
    let row = try await replica.history.explain(table: table, key: key)
    return LivePage.story(row, ReplicaNames(try await replica.members.list()))
  }

  /// Begins a sync with all remotes; its end is an event.
  ///
  /// - Throws: `busy` while one is under way.
  func sync() throws {
    guard !isSyncing else { throw GodwitError(.busy, "a sync is under way", hint: "wait for its end") }
    isSyncing = true
    Task {
      let event = await outcome()
      isSyncing = false
      send(event)
    }
  }

  private func outcome() async -> Event {
    do {
      let report = try await replica.sync()
      let view = SyncView(report.remotes, ReplicaNames(try await replica.members.list()))
      let problems = report.remotes.compactMap { remote in
        remote.error.map { "\(Format.printable(remote.name)): \(Self.text($0))" }
      }
      return .synced(lines: view.lines, problems: view.warnings + problems)
    } catch {
      let error = error as? GodwitError ?? GodwitError(.fileAccess, "\(error)")
      return .synced(lines: [], problems: [Self.text(error)])
    }
  }

  private static func text(_ error: GodwitError) -> String {
    Format.printable(error.message + (error.hint.map { " (\($0))" } ?? ""))
  }
}
