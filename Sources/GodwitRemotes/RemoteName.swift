import GodwitBase
import GodwitCore

/// The name of a file at a remote (Specs/remotes.md, "Names"). No other name is looked at.
package enum RemoteName: Hashable, Sendable, CustomStringConvertible {
  /// The format's version and the group's tag.
  case marker
  /// An origin's latest sync file.
  case mailbox(Origin)
  /// An origin's state file.
  case state(Origin)

  /// The folder of mailboxes.
  package static let mailboxes = "m"
  /// The folder of state files.
  package static let states = "s"

  /// Nil for a name of another form.
  package init?(_ text: String) {
    if text == "godwit-remote" {
      self = .marker
      return
    }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let origin = Origin(remoteName: parts[1]) else { return nil }
    switch parts[0] {
    case Self.mailboxes[...]: self = .mailbox(origin)
    case Self.states[...]: self = .state(origin)
    default: return nil
    }
  }

  package var description: String {
    switch self {
    case .marker: "godwit-remote"
    case .mailbox(let origin): "\(Self.mailboxes)/\(origin.remoteName)"
    case .state(let origin): "\(Self.states)/\(origin.remoteName)"
    }
  }

  /// Whose it is.
  package var origin: Origin? {
    switch self {
    case .marker: nil
    case .mailbox(let origin), .state(let origin): origin
    }
  }
}

extension Origin {
  /// 32 digits, `-` and 8 digits.
  fileprivate var remoteName: String {
    var writer = ByteWriter(capacity: 4)
    writer.bigEndian(incarnation)
    return "\(replica)-\(Hexadecimal.encode(writer.bytes))"
  }

  /// Nil for another form, capital digits among them.
  fileprivate init?(remoteName text: Substring) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.count == 8, let replica = ReplicaID(String(parts[0])),
      let incarnation = UInt32(parts[1], radix: 16)
    else { return nil }
    self.init(replica: replica, incarnation: incarnation)
    guard remoteName == text else { return nil }
  }
}
