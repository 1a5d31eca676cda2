import CSpawn
import Foundation
import GodwitBase

/// A program that runs as a child of this process, and is waited for by nobody else: Foundation's `Process` waits for
/// what its child has left running, too. It has this process's environment, and no open file but those that it is given
/// and the standard streams.
///
/// Unchecked Sendable: who waits for its end is one thread.
package final class ChildProcess: @unchecked Sendable {
  private let identifier: pid_t
  private var status: Int32?

  /// Starts the program of the first word, looked for in PATH.
  ///
  /// - Parameter descriptors: What it has in place of this process's standard streams: of each, the descriptor here and
  ///   there.
  /// - Throws: `unreachable` where it cannot be started.
  package init(_ words: [String], descriptors: [(here: Int32, there: Int32)]) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (here, there) in descriptors { posix_spawn_file_actions_adddup2(&actions, here, there) }
    // Sockets at which a program listens may be open without O_CLOEXEC.
    posix_spawn_file_actions_addclosefrom_np(&actions, 3)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // A worker's thread blocks signals, and this one's child must not.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    // A server ignores the signal of a broken pipe, which ends programs that write into one.
    var reset = sigset_t()
    sigemptyset(&reset)
    sigaddset(&reset, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &reset)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    let result = posix_spawnp(&process, words.first ?? "", &actions, &attributes, &arguments, environ)
    guard result == 0 else {
      throw GodwitError(
        .unreachable, "\(words.first ?? "") cannot be started: \(String(cString: strerror(result)))",
        hint: "see that it is installed")
    }
    identifier = process
  }

  /// Waits for its end, and brings that about when it does not come by itself. Its exit code; 128 and more after a
  /// signal.
  package func end(after patience: Duration) -> Int32 {
    for (limit, signal) in [(patience, SIGTERM), (.seconds(2), SIGKILL)] where status == nil {
      wait(atMost: limit)
      if status == nil { kill(identifier, signal) }
    }
    return wait()
  }

  /// Waits for its end, however long that takes. Its exit code; 128 and more after a signal.
  package func wait() -> Int32 {
    wait(atMost: nil)
    let status = status ?? 0
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8) & 0xff : 128 + signal
  }

  /// Looks at it more and more seldom: most end at once.
  private func wait(atMost limit: Duration?) {
    let start = ContinuousClock.now
    var pause: UInt32 = 500
    while !hasEnded, limit.map({ .now - start < $0 }) ?? true {
      usleep(pause)
      pause = min(2 * pause, 20_000)
    }
  }

  /// As of a process that ends with 255.
  private static let unknownStatus: Int32 = 255 << 8

  package var hasEnded: Bool {
    guard status == nil else { return true }
    var found: Int32 = 0
    let ended = waitpid(identifier, &found, WNOHANG)
    if ended == identifier { status = found }
    // A program that ignores its children's ends, or waits for all of them, takes the status: it counts as a failure.
    if ended < 0, errno != EINTR { status = Self.unknownStatus }
    return status != nil
  }
}
