import FlyingSocks
import Foundation

/// A pool of sockets in which only so many connections may wait for bytes that come or go: of more, the one that has
/// waited longest is closed. So connections that say nothing neither use up the open files of a process nor keep others
/// out; those that were just accepted, and have not begun to wait, are not counted.
actor WaitingConnections: AsyncSocketPool {
  private struct Wait {
    let number: Int
    let task: Task<Void, any Error>
  }

  private let pool: any AsyncSocketPool
  private let limit: Int
  /// The one that has waited longest is the first.
  private var waits: [Wait] = []
  private var lastNumber = 0

  init(_ pool: any AsyncSocketPool, limit: Int) {
    self.pool = pool
    self.limit = limit
  }

  func prepare() async throws { try await pool.prepare() }

  func run() async throws { try await pool.run() }

  func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
    let pool = pool
    guard !socket.isListening else { return try await pool.suspendSocket(socket, untilReadyFor: events) }
    let task = Task { try await pool.suspendSocket(socket, untilReadyFor: events) }
    lastNumber += 1
    let number = lastNumber
    waits.append(Wait(number: number, task: task))
    defer { waits.removeAll { $0.number == number } }
    if waits.count > limit { waits.removeFirst().task.cancel() }
    try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }
}

extension Socket {
  /// Whether connections come by it (socket(7), `SO_ACCEPTCONN`).
  fileprivate var isListening: Bool {
    var (value, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    return getsockopt(file.rawValue, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value != 0
  }
}
