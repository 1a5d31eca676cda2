import Foundation
import Synchronization

/// A program that serves on loopback until the value goes.
package final class LocalServer: @unchecked Sendable {
  package let port: Int
  private let process = Process()

  /// Waits until somebody answers at the port.
  package init(_ program: String, _ arguments: (_ port: Int) -> [String], environment: [String: String] = [:]) throws {
    port = try Self.freePort()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments(port)
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    for _ in 0..<600 {
      if let socket = try? LoopbackSocket(connectingTo: port) {
        socket.close()
        return
      }
      usleep(100_000)
    }
    throw CocoaError(.fileReadUnknown)
  }

  deinit {
    // A worker's thread blocks signals, and its children inherit that: no other signal ends them surely.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Those that were handed out: a server may not listen yet when the next one asks.
  private static let handedOut = Mutex<Set<Int>>([])

  /// A port that nobody uses now, another one each time.
  package static func freePort() throws -> Int {
    while true {
      let socket = try LoopbackSocket(listeningAt: 0)
      defer { socket.close() }
      if handedOut.withLock({ $0.insert(socket.port).inserted }) { return socket.port }
    }
  }
}
