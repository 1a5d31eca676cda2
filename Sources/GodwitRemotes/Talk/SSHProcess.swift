import Foundation
import GodwitBase
import GodwitFiles

/// The program ssh, connected by a socket that is its standard input and output. `GODWIT_SSH` names another program,
/// with arguments between spaces, as `GIT_SSH_COMMAND` does for git.
final class SSHProcess: TalkConnection {
  let stream: SocketStream
  private let process: ChildProcess?
  private let errors: ErrorOutput
  private let host: String
  /// What reaches the same host by hand.
  private let command: String
  private let meter: TransferMeter

  /// - Parameter meter: Slows the talk down where there is a limit.
  /// - Throws: `unreachable` where there is no ssh.
  init(_ address: SSHAddress, meter: TransferMeter) throws {
    host = address.host
    self.command = address.command
    self.meter = meter
    let command = ProcessInfo.processInfo.environment["GODWIT_SSH"].flatMap { $0.isEmpty ? nil : $0 } ?? "ssh"
    let words = command.split(separator: " ").map(String.init) + address.arguments(isInteractive: isatty(2) == 1)
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw GodwitError.file("make a socket to", "ssh", errno)
    }
    stream = SocketStream(ends[0], name: address.host, meter: meter)
    defer { close(ends[1]) }
    var process: ChildProcess?
    errors = try ErrorOutput { error in
      do {
        process = try ChildProcess(words, descriptors: [(ends[1], 0), (ends[1], 1), (error, 2)])
      } catch let error as GodwitError {
        throw GodwitError(error.code, error.message, hint: "install ssh, or name it in GODWIT_SSH")
      }
    }
    self.process = process
  }

  /// How long ssh may take to end once nobody talks to it any more. One that is still connecting does not see that.
  private static let patience = Duration.seconds(5)

  deinit { end() }

  func end() {
    stream.end()
    errors.end()
    _ = process?.end(after: .zero)
  }

  /// What ssh says by its end: 255 when there was no session, else the remote command's code.
  func explanation(_ banner: String) -> GodwitError {
    let (code, said, last) = finish()
    switch code {
    case 255 where Self.refusals.contains(where: said.contains):
      return GodwitError(
        .refused, "ssh to \(host) is refused: \(last)", hint: "see what ssh says by itself: \(command)")
    case 255: return lost(last)
    case 127:
      return GodwitError(
        .refused, "there is no godwit on \(host)", hint: "install godwit there, on the PATH of ssh's commands")
    default:
      if let error = Self.godwitsError(in: said, endedWith: code, on: host) { return error }
      // Ended from here, since nothing came.
      if banner.isEmpty, last.isEmpty, code >= 128 { return lost("it says nothing") }
      return GodwitError(
        .refused, "\(host) answers with something else than godwit: \(banner.isEmpty ? last : banner)",
        hint: "try: \(command) godwit --version")
    }
  }

  /// What ssh says where waiting does not help: who is to act is on one of the two machines.
  private static let refusals = [
    "Host key verification failed", "Permission denied", "Too many authentication failures", "Unable to negotiate",
    "Bad owner or permissions", "Bad configuration option", "no matching host key type", "UNPROTECTED PRIVATE KEY",
  ]

  /// What ssh says, where it lost the host.
  func explanation(of error: GodwitError) -> GodwitError {
    let (code, _, last) = finish()
    return code == 255 && !last.isEmpty ? lost(last) : error
  }

  private func lost(_ reason: String) -> GodwitError {
    GodwitError(
      .unreachable, "\(host) cannot be reached: \(reason.isEmpty ? "ssh says nothing" : reason)",
      hint: "try again later")
  }

  /// Ends it: its code, and what it has written as errors, with the last line.
  private func finish() -> (code: Int32, said: String, last: String) {
    stream.end()
    let code = process?.end(after: meter.isCancelled ? .zero : Self.patience) ?? 0
    let said = errors.finish()
    return (code, said, said.split(whereSeparator: \.isNewline).last.map { String($0.prefix(200)) } ?? "")
  }

  /// What the program over there has ended with: Specs/cli.md, "Exit codes".
  private static func godwitsError(in said: String, endedWith code: Int32, on host: String) -> GodwitError? {
    let lines = said.split(whereSeparator: \.isNewline)
    func line(after start: String) -> String? {
      lines.first { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count).prefix(200)) }
    }
    guard let error = line(after: "godwit: error: ") else { return nil }
    let (noReplica, busy, unreachable): (Int32, Int32, Int32) = (10, 11, 16)
    let hint = code == noReplica ? nil : line(after: "godwit: hint: ")
    return GodwitError(
      [busy, unreachable].contains(code) ? .unreachable : .refused, "godwit on \(host) says: \(error)",
      hint: hint ?? "see the path in the remote's URL")
  }
}
