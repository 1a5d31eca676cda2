import Foundation
import GodwitBase
import GodwitFiles

/// The program ssh, connected by a socket that is its standard input and output. `GODWIT_SSH` names another program,
/// with arguments between spaces, as `GIT_SSH_COMMAND` does for git.
///
/// Unchecked Sendable: who waits for its end is one thread, after the talk.
package final class SSHProcess: @unchecked Sendable {
  package let stream: SocketStream
  private let process: pid_t
  private let errors: FileDescriptor
  private let host: String
  /// What reaches the same host by hand.
  private let command: String
  private let meter: TransferMeter
  private var status: Int32?

  /// - Parameters:
  ///   - folder: Where what ssh writes as errors lies, without a name.
  ///   - meter: Slows the talk down where there is a limit.
  /// - Throws: `unreachable` where there is no ssh.
  package init(_ address: SSHAddress, folder: String, meter: TransferMeter) throws {
    host = address.host
    self.command = address.command
    self.meter = meter
    let command = ProcessInfo.processInfo.environment["GODWIT_SSH"].flatMap { $0.isEmpty ? nil : $0 } ?? "ssh"
    let words = command.split(separator: " ").map(String.init) + address.arguments(isInteractive: isatty(2) == 1)
    errors = try Self.nameless(in: folder)
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw GodwitError.file("make a socket to", "ssh", errno)
    }
    stream = SocketStream(ends[0], name: address.host, meter: meter)
    defer { close(ends[1]) }
    process = try Self.spawn(words, socket: ends[1], errors: errors.rawValue)
  }

  /// How long ssh may take to end once nobody talks to it any more.
  private static let patience = Duration.seconds(5)

  deinit {
    stream.end()
    _ = wait(patience: .zero)
  }

  private static func nameless(in folder: String) throws -> FileDescriptor {
    let path = "\(folder)/ssh-errors"
    unlink(path)
    let file = try PrivateFile.create(path)
    unlink(path)
    return file
  }

  private static func spawn(_ words: [String], socket: Int32, errors: Int32) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (descriptor, own) in [(socket, Int32(0)), (socket, 1), (errors, 2)] {
      posix_spawn_file_actions_adddup2(&actions, descriptor, own)
    }
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
    let result = posix_spawnp(&process, words[0], &actions, &attributes, &arguments, environ)
    guard result == 0 else {
      throw GodwitError(
        .unreachable, "\(words[0]) cannot be started: \(String(cString: strerror(result)))",
        hint: "install ssh, or name it in GODWIT_SSH")
    }
    return process
  }

  /// Waits for its end, and brings that about when it does not come by itself: one that is still connecting does not
  /// see that nobody talks to it any more.
  private func wait(patience: Duration) -> Int32 {
    for (limit, signal) in [(patience, SIGTERM), (.seconds(2), SIGKILL)] where status == nil {
      let start = ContinuousClock.now
      while !hasEnded(), .now - start < limit { usleep(20_000) }
      if status == nil { kill(process, signal) }
    }
    while !hasEnded() { usleep(20_000) }
    return status ?? 0
  }

  private func hasEnded() -> Bool {
    guard status == nil else { return true }
    var found: Int32 = 0
    let ended = waitpid(process, &found, WNOHANG)
    // Nobody else waits for it, so that an error means that there is nothing to wait for.
    if ended == process || (ended < 0 && errno != EINTR) { status = found }
    return status != nil
  }

  /// Why there was no talk: what ssh says by its end (255 when there was no session, else the remote command's code).
  ///
  /// - Parameter banner: What came in place of the magic.
  package func explanation(_ banner: String) -> GodwitError {
    stream.end()
    let code = (wait(patience: meter.isCancelled ? .zero : Self.patience) >> 8) & 0xff
    lseek(errors.rawValue, 0, SEEK_SET)
    let said = String(decoding: (try? errors.readToEnd(limit: 1 << 16)) ?? [], as: UTF8.self)
    let last = said.split(whereSeparator: \.isNewline).last.map { String($0.prefix(200)) } ?? ""
    switch code {
    case 255 where said.contains("Host key verification failed") || said.contains("Permission denied"):
      return GodwitError(
        .refused, "ssh to \(host) is refused: \(last)", hint: "see what ssh says by itself: \(command)")
    case 255: return GodwitError(.unreachable, "\(host) cannot be reached: \(last)", hint: "try again later")
    case 127:
      return GodwitError(
        .refused, "there is no godwit on \(host)", hint: "install godwit there, on the PATH of ssh's commands")
    default:
      if let error = Self.godwitsError(in: said) {
        return GodwitError(.refused, "godwit on \(host) says: \(error)", hint: "see the path in the remote's URL")
      }
      return GodwitError(
        .refused, "\(host) answers with something else than godwit: \(banner.isEmpty ? last : banner)",
        hint: "try: \(command) godwit --version")
    }
  }

  /// What the program over there has ended with.
  private static func godwitsError(in said: String) -> String? {
    let start = "godwit: error: "
    let line = said.split(whereSeparator: \.isNewline).first { $0.hasPrefix(start) }
    return line.map { String($0.dropFirst(start.count).prefix(200)) }
  }
}
