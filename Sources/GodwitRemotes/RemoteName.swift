import GodwitBase
import GodwitCore

/// The name of a file at a remote (Specs/remotes.md, "Names"). No other name is looked at.
package enum RemoteName: Hashable, Sendable, CustomStringConvertible {
  /// The format's version and the group's tag.
  case marker
  /// An origin's latest sync file.
  case mailbox(Origin)
  /// An origin's state file, sealed to recipients of which the text is a hash's first 16 digits.
  case state(Origin, sealedTo: String)

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
    guard parts.count == 2 else { return nil }
    switch parts[0] {
    case Self.mailboxes[...]:
      guard let origin = Origin(remoteName: parts[1]) else { return nil }
      self = .mailbox(origin)
    case Self.states[...]:
      guard let dash = parts[1].lastIndex(of: "-"), let origin = Origin(remoteName: parts[1][..<dash]) else {
        return nil
      }
      let recipients = String(parts[1][parts[1].index(after: dash)...])
      guard recipients.utf8.count == 16, Hexadecimal.decode(recipients).map(Hexadecimal.encode) == recipients else {
        return nil
      }
      self = .state(origin, sealedTo: recipients)
    default: return nil
    }
  }

  package var description: String {
    switch self {
    case .marker: "godwit-remote"
    case .mailbox(let origin): "\(Self.mailboxes)/\(origin.remoteName)"
    case .state(let origin, let recipients): "\(Self.states)/\(origin.remoteName)-\(recipients)"
    }
  }

  /// Whose it is.
  package var origin: Origin? {
    switch self {
    case .marker: nil
    case .mailbox(let origin), .state(let origin, _): origin
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
