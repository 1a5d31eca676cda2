import Foundation
import Godwit

/// A program that reads from a pipe of this process's, and whose output nobody wants. It is waited for without the
/// steps of a run loop, which a timed row would count.
struct PipedProgram: Sendable {
  private let name: String
  private let process: pid_t
  private let input: Int32

  /// - Parameter words: The program, looked for on the PATH, and its arguments.
  init(_ words: [String]) throws {
    name = words[0]
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw GodwitError(.invalidArgument, "there is no pipe to \(words[0])") }
    defer { close(ends[0]) }
    // A program that kept its own pipe open would never see the end.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    input = ends[1]
    do {
      process = try Self.spawn(words, input: ends[0])
    } catch {
      close(ends[1])
      throw error
    }
  }

  private static func spawn(_ words: [String], input: Int32) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // A worker's thread blocks signals, and this one's child must not.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    guard posix_spawnp(&process, words[0], &actions, &attributes, &arguments, environ) == 0 else {
      throw GodwitError(.invalidArgument, "\(words[0]) cannot be started")
    }
    return process
  }

  /// Runs the body while this process's standard output is the pipe. Nothing else may print meanwhile.
  func asStandardOutput(_ body: () async throws -> Void) async throws {
    let output = dup(1)
    dup2(input, 1)
    defer {
      dup2(output, 1)
      close(output)
    }
    try await body()
  }

  /// Ends the pipe, and waits for the program, which must succeed. It is called once.
  func finish() throws {
    close(input)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else { throw GodwitError(.invalidArgument, "\(name) failed") }
  }

  /// Runs a program that reads nothing.
  static func run(_ words: [String]) throws { try PipedProgram(words).finish() }
}
