import Foundation
import Godwit
import GodwitAgent
import ToolServer
import ToolSupport

/// Runs an agent as a service: takes signals, answers on sockets, and informs systemd.
struct AgentService {
  private enum Event { case reload, stop }

  /// How long a stop may take before the process ends in any case. What a sync had taken by then stays.
  private static let patience: UInt32 = 15

  private let agent: Agent
  private let servers: [PageServer]
  private let socket: AgentSocket
  private let journal: Journal
  private let manager = ServiceManager()

  init(_ agent: Agent, _ servers: [PageServer], _ socket: AgentSocket, _ journal: Journal) {
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
      if signal == SIGHUP { sender.yield(.reload) }
      if signal == SIGTERM { stop(sender) }
    }
    journal.note(.info, .started, "godwit-agent \(GodwitVersion.current)", [("socket", socket.path)])
    try await Interrupts.withListener({ stop(sender) }) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for server in servers { group.addTask { try await server.run() } }
        group.addTask { for server in servers { _ = try await server.started() } }
        // This process has the place by its lock, whatever fails.
        defer { unlink(socket.path) }
        // All answer, or one could not have its address.
        try await group.next()
        group.addTask { try await renewStatus() }
        group.addTask { try await keep() }
        group.addTask { await take(events) }
        // The first that ends is the one with the signals, or has failed.
        try await group.next()
        group.cancelAll()
      }
    }
    journal.note(.info, .stopped, "all replicas are closed")
  }

  private func keep() async throws {
    try await agent.run {
      let summary = agent.board.summary
      manager.ready(summary)
      journal.note(.info, .ready, summary)
    }
  }

  /// Until the agent is to stop.
  private func take(_ events: AsyncStream<Event>) async {
    for await event in events {
      switch event {
      case .reload:
        // At the start it is said to be ready once it is.
        let wasReady = agent.board.wasReady
        if wasReady { manager.reloading() }
        journal.note(.info, .reloading, "closing and opening every replica")
        agent.reload()
        if wasReady { manager.ready(agent.board.summary) }
      case .stop:
        manager.stopping()
        journal.note(.info, .stopping, "closing every replica")
        return
      }
    }
  }

  private func stop(_ sender: AsyncStream<Event>.Continuation) {
    endInTime()
    sender.yield(.stop)
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
