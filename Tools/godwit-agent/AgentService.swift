import Foundation
import Godwit
import GodwitAgent
import ToolSupport

/// Runs an agent as a service: takes signals, answers on sockets, and informs systemd.
struct AgentService {
  private enum Event {
    case reload
    case stop
    /// The agent's run of this number has ended.
    case ended(Int)
  }

  /// How long a stop may take before the process ends in any case. What a sync had taken by then stays.
  private static let patience: UInt32 = 15

  private let agent: Agent
  private let servers: [AgentServer]
  private let socket: AgentSocket
  private let journal: Journal
  private let manager = ServiceManager()

  init(_ agent: Agent, _ servers: [AgentServer], _ socket: AgentSocket, _ journal: Journal) {
    self.agent = agent
    self.servers = servers
    self.socket = socket
    self.journal = journal
  }

  /// Until SIGTERM or SIGINT.
  func run() async throws {
    let (events, sender) = AsyncStream.makeStream(of: Event.self)
    // A peer that goes away is no reason to end, and an ignored signal would be ignored by ssh, too.
    SignalStream.take([SIGTERM, SIGHUP, SIGPIPE]) { signal in
      if signal != SIGPIPE { sender.yield(signal == SIGHUP ? .reload : .stop) }
    }
    journal.note(.info, .started, "godwit-agent \(GodwitVersion.current)", [("socket", socket.path)])
    try await Interrupts.withListener({ sender.yield(.stop) }) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for server in servers { group.addTask { try await server.run() } }
        group.addTask { for server in servers { try await server.started() } }
        // All answer, or one could not have its address.
        try await group.next()
        // From here on the socket is this agent's.
        defer { unlink(socket.path) }
        do {
          socket.share()
          group.addTask { try await renewStatus() }
          group.addTask { try await keep(events, sender) }
          // The first that ends is the last one, or has failed.
          try await group.next()
        } catch {
          group.cancelAll()
          throw error
        }
        group.cancelAll()
      }
    }
    journal.note(.info, .stopped, "all replicas are closed")
  }

  /// Runs the agent, again after each SIGHUP, until it is to stop.
  private func keep(_ events: AsyncStream<Event>, _ sender: AsyncStream<Event>.Continuation) async throws {
    var events = events.makeAsyncIterator()
    var number = 0
    var run = start(number, sender)
    while let event = await events.next() {
      switch event {
      case .reload:
        manager.reloading()
        journal.note(.info, .reloading, "closing and opening every replica")
        run.cancel()
        _ = await run.result
        number += 1
        run = start(number, sender)
      case .ended(number): return try await run.value
      case .ended: continue
      case .stop:
        manager.stopping()
        journal.note(.info, .stopping, "closing every replica")
        endInTime()
        run.cancel()
        _ = await run.result
        return
      }
    }
    run.cancel()
    _ = await run.result
    throw CancellationError()
  }

  private func start(_ number: Int, _ sender: AsyncStream<Event>.Continuation) -> Task<Void, any Error> {
    Task {
      defer { sender.yield(.ended(number)) }
      // Who has started it sees that nothing opens; later on somebody may be about to change what keys there are.
      try await agent.run(mayAllFail: number > 0) {
        let summary = agent.board.summary
        manager.ready(summary)
        journal.note(.info, .ready, summary)
      }
    }
  }

  private func endInTime() {
    let journal = journal
    Thread.detachNewThread {
      sleep(Self.patience)
      journal.note(.warning, .stopped, "a replica did not close within \(Self.patience) s")
      _exit(ExitStatus.success)
    }
  }

  /// Says to systemd that the agent is alive and how it is, where systemd waits for that.
  private func renewStatus() async throws {
    while true {
      try await Task.sleep(for: manager.watchdogInterval ?? .seconds(86_400))
      manager.alive(agent.board.summary)
    }
  }
}
