import Foundation
import GodwitBase
import GodwitFiles

/// A connection to a Unix socket at which a replica on this machine is served (Specs/remotes.md, "Talks").
final class TalkSocket: TalkConnection {
  let stream: SocketStream
  private let path: String

  /// - Parameter meter: Slows the talk down where there is a limit.
  /// - Throws: `unreachable` where nobody answers, `refused` where this user may not ask.
  init(_ place: SocketPath, meter: TransferMeter) throws {
    path = place.path
    switch place.connect() {
    case .success(let descriptor): stream = SocketStream(descriptor, name: place.path, meter: meter)
    case .failure(let error) where error.code == .EACCES:
      throw GodwitError(.refused, "\(place.path) is not open to this user", hint: "ask as its user or its group")
    case .failure:
      throw GodwitError(
        .unreachable, "nobody answers at \(place.path)",
        hint: "start it there: godwit serve --socket \(ShellWord.quoted(place.path)) REPLICA")
    }
  }

  func end() { stream.end() }

  func explanation(_ banner: String) -> GodwitError {
    guard !banner.isEmpty else {
      return GodwitError(.unreachable, "\(path) ended the connection", hint: "try again later")
    }
    return GodwitError(
      .refused, "\(path) answers with something else than godwit: \(banner)", hint: "see the path in the remote's URL")
  }

  func explanation(of error: GodwitError) -> GodwitError { error }
}
