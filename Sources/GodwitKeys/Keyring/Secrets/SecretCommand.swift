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
    let process: ChildProcess
    do {
      let input = FileDescriptor(ends[1], path: "the key command's output")
      process = try ChildProcess(arguments, descriptors: [(input.rawValue, 1)])
    } catch let error as GodwitError {
      throw GodwitError(.noKeyFits, "the key command \(error.message)", hint: error.hint)
    }
    let secret = Result { try SecretText.read(output, "what the key command prints") }
    if case .failure(let error as GodwitError) = secret, error.code == .limitExceeded {
      _ = process.end(after: .zero)
      throw error
    }
    // One that has printed nothing may end a moment later.
    let status = if case .failure = secret { process.end(after: .seconds(2)) } else { process.wait() }
    guard status == 0 else {
      throw GodwitError(.noKeyFits, "the key command \(program) failed", hint: "run it by hand to see why")
    }
    return try secret.get()
  }
}
