import Foundation
import GodwitBase

/// A process that reads a database (``ReaderServer``): a program started anew, for a copy of this process would have
/// the locks that its other threads hold, and the replica's keys.
///
/// It is killed and waited for at the end, whatever has become of it: there is nothing that it could leave half done.
final class ReaderProcess {
  /// The first argument, by which a program knows that it is one.
  static let argument = "godwit-source-reader"
  /// How the libraries are found that the program itself runs with; nothing else of its environment goes along.
  private static let variables = ["LD_LIBRARY_PATH", "LD_PRELOAD"]
  /// How long a process that closed its socket may take to end.
  private static let endMilliseconds = 2_000

  let descriptor: Int32
  private let process: pid_t
  private var status: Int32?

  /// Throws `fileAccess`.
  init(_ program: DatabaseSource.Reader.Program) throws {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Self.failure(errno) }
    defer { close(ends[1]) }
    do {
      process = try Self.spawn(program, socket: ends[1])
    } catch {
      close(ends[0])
      throw error
    }
    descriptor = ends[0]
  }

  deinit {
    end()
    close(descriptor)
  }

  private static func failure(_ error: Int32) -> GodwitError {
    GodwitError(.fileAccess, "no process can be started to read the database: \(String(cString: strerror(error)))")
  }

  /// A process group of its own keeps the terminal's signals from it, which this program answers by ending it.
  private static func spawn(_ program: DatabaseSource.Reader.Program, socket: Int32) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, socket, ReaderSocket.childDescriptor)
    for descriptor: Int32 in [1, 2] { posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDONLY, 0) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    let environment = variables.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
    var process: pid_t = 0
    let result = withCStrings([program.path] + program.arguments) { arguments in
      withCStrings(environment) { posix_spawn(&process, program.path, &actions, &attributes, arguments, $0) }
    }
    guard result == 0 else { throw failure(result) }
    return process
  }

  private static func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.map(body) ?? body(UnsafeMutablePointer.allocate(capacity: 1))
    }
  }

  /// Ends it, if it has not ended.
  func end() {
    guard status == nil else { return }
    kill(process, SIGKILL)
    wait(isPatient: true)
  }

  /// Whether it has ended; also when somebody else has waited for it.
  @discardableResult
  private func wait(isPatient: Bool) -> Bool {
    guard status == nil else { return true }
    var found: Int32 = 0
    while true {
      let result = waitpid(process, &found, isPatient ? 0 : WNOHANG)
      if result == process { status = found } else if result < 0 { if errno == EINTR { continue } else { status = 0 } }
      return status != nil
    }
  }

  /// Why it has gone.
  func explanation(_ path: String, _ limits: ReaderLimits) -> GodwitError {
    for _ in 0..<Self.endMilliseconds / 10 where !wait(isPatient: false) { usleep(10_000) }
    end()
    let signal = (status ?? 0) & 0x7F
    let hint =
      "it may be damaged, or made to do harm: copy what is wanted into a new database with the program it is of"
    switch signal {
    case SIGXCPU:
      return GodwitError(
        .limitExceeded,
        "reading \(path) takes more than \(limits.cpuSeconds) seconds of the processor, which is beyond its size; "
          + "nothing was made",
        hint: hint)
    case 0:
      return GodwitError(
        .damagedDatabase, "reading \(path) ended early; nothing was made", hint: hint, underlying: ReaderEnd(signal: 0))
    default:
      return GodwitError(
        .damagedDatabase, "reading \(path) ended with signal \(signal); nothing was made", hint: hint,
        underlying: ReaderEnd(signal: signal))
    }
  }
}

/// How a process ended that was to read a database: by a signal, or 0 for an end of its own.
struct ReaderEnd: Error { let signal: Int32 }
