import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto

/// A program of the user's that prints a secret, such as a password manager.
enum SecretCommand {
  /// Starts the program without a shell, with this process's environment, terminal and standard error, and takes what
  /// it prints.
  ///
  /// Throws `invalidArgument` without a program, `noKeyFits` when it cannot be started, fails or prints nothing. No
  /// error shows what it printed.
  static func run(_ arguments: [String]) throws -> SecretBytes {
    guard let program = arguments.first, !program.isEmpty, !arguments.contains(where: { $0.utf8.contains(0) }) else {
      throw GodwitError(.invalidArgument, "a key command needs a program")
    }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw GodwitError.file("make", "a pipe", errno) }
    let output = FileDescriptor(ends[0], path: "the key command's output")
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let process: pid_t
    do {
      let input = FileDescriptor(ends[1], path: "the key command's output")
      process = try start(arguments, output: input.rawValue)
    }
    let secret = Result { try SecretText.read(output, "what the key command prints") }
    if case .failure = secret { kill(process, SIGKILL) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    if case .failure(let error as GodwitError) = secret, error.code == .limitExceeded { throw error }
    guard status == 0 else {
      throw GodwitError(.noKeyFits, "the key command \(program) failed", hint: "run it by hand to see why")
    }
    return try secret.get()
  }

  private static func start(_ arguments: [String], output: Int32) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    var vector = arguments.map { strdup($0) } + [nil]
    defer { for argument in vector { free(argument) } }
    var process: pid_t = 0
    let result = posix_spawnp(&process, arguments[0], &actions, nil, &vector, environ)
    guard result == 0 else {
      throw GodwitError(
        .noKeyFits, "the key command \(arguments[0]) cannot be started: \(String(cString: strerror(result)))")
    }
    return process
  }
}
