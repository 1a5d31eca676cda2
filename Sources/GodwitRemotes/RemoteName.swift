import GodwitBase
import GodwitCore

/// The name of a file at a remote (Specs/remotes.md, "Names"). No other name is looked at.
package enum RemoteName: Hashable, Sendable {
  /// The format's version and the group's tag.
  case marker
  /// An origin's latest sync file.
  case mailbox(Origin)
  /// That an origin keeps a log, and its latest number.
  case logMark(Origin)
  /// A sync file of an origin's log, 1, 2, 3 ….
  case log(Origin, UInt32)
  /// An origin's state file, sealed to recipients of which the text is a hash's first 16 digits.
  case state(Origin, sealedTo: String)
  /// A sync file whose header others build on; the text is its hash's first 16 digits.
  case base(Origin, hash: String)
  /// An origin's file with an epoch, of which the text is the first 16 digits of its key's hash.
  case epoch(Origin, key: String)
  /// What a replica that would join says of itself.
  case request(ReplicaID)
  /// The invitation for a replica.
  case invitation(ReplicaID)

  /// The folder of mailboxes and of marks of logs.
  package static let mailboxes = "m"
  /// The folder of logs.
  package static let logs = "l"
  /// The folder of state files.
  package static let states = "s"
  /// The folder of bases.
  package static let bases = "b"
  /// The folder of epochs.
  package static let epochs = "e"
  /// The folder of requests.
  package static let requests = "r"
  /// The folder of invitations.
  package static let invitations = "i"

  /// Whose it is; nil for the marker, and for what is of a replica that is no member yet.
  package var origin: Origin? {
    switch self {
    case .marker, .request, .invitation: nil
    case .mailbox(let origin), .logMark(let origin), .log(let origin, _), .state(let origin, _), .base(let origin, _),
      .epoch(let origin, _):
      origin
    }
  }

  package var isBase: Bool { if case .base = self { true } else { false } }

  package var isMailbox: Bool { if case .mailbox = self { true } else { false } }

  package var isLogMark: Bool { if case .logMark = self { true } else { false } }

  /// The key's digits; nil for what is no epoch.
  package var epochKey: String? { if case .epoch(_, let key) = self { key } else { nil } }

  /// Its place in a log; nil for what is in none.
  package var logNumber: UInt32? { if case .log(_, let number) = self { number } else { nil } }
}

extension RemoteName: CustomStringConvertible {
  private static let markerName = "godwit-remote"
  private static let logSuffix = ".log"

  package var description: String {
    switch self {
    case .marker: Self.markerName
    case .mailbox(let origin): "\(Self.mailboxes)/\(origin.remoteName)"
    case .logMark(let origin): "\(Self.mailboxes)/\(origin.remoteName)\(Self.logSuffix)"
    case .log(let origin, let number): "\(Self.logs)/\(origin.remoteName)-\(number)"
    case .state(let origin, let recipients): "\(Self.states)/\(origin.remoteName)-\(recipients)"
    case .base(let origin, let hash): "\(Self.bases)/\(origin.remoteName)-\(hash)"
    case .epoch(let origin, let key): "\(Self.epochs)/\(origin.remoteName)-\(key)"
    case .request(let replica): "\(Self.requests)/\(replica)"
    case .invitation(let replica): "\(Self.invitations)/\(replica)"
    }
  }

  /// Nil for a name of another form.
  package init?(_ text: String) {
    guard let name = Self.read(text), "\(name)" == text else { return nil }
    self = name
  }

  /// Of a name in another form than the one that is written, too.
  private static func read(_ text: String) -> RemoteName? {
    if text == markerName { return .marker }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { return nil }
    let name = parts[1]
    switch parts[0] {
    case mailboxes where name.hasSuffix(logSuffix):
      return Origin(remoteName: String(name.dropLast(logSuffix.count))).map { .logMark($0) }
    case mailboxes: return Origin(remoteName: name).map { .mailbox($0) }
    case logs:
      guard let (origin, rest) = numbered(name), let number = UInt32(rest), number > 0 else { return nil }
      return .log(origin, number)
    case states: return digits(name).map { .state($0, sealedTo: $1) }
    case bases: return digits(name).map { .base($0, hash: $1) }
    case epochs: return digits(name).map { .epoch($0, key: $1) }
    case requests: return ReplicaID(name).map { .request($0) }
    case invitations: return ReplicaID(name).map { .invitation($0) }
    default: return nil
    }
  }

  /// An origin, and the first 16 digits of a hash behind it.
  private static func digits(_ name: String) -> (Origin, String)? {
    guard let (origin, rest) = numbered(name), rest.utf8.count == 16,
      Hexadecimal.decode(rest).map(Hexadecimal.encode) == rest
    else { return nil }
    return (origin, rest)
  }

  /// An origin, and what stands behind it.
  private static func numbered(_ name: String) -> (Origin, String)? {
    guard let dash = name.lastIndex(of: "-"), let origin = Origin(remoteName: String(name[..<dash])) else { return nil }
    return (origin, String(name[name.index(after: dash)...]))
  }
}

extension Origin {
  /// 32 digits, `-` and 8 digits.
  fileprivate var remoteName: String {
    var writer = ByteWriter(capacity: 4)
    writer.bigEndian(incarnation)
    return "\(replica)-\(Hexadecimal.encode(writer.bytes))"
  }

  /// Nil for another form.
  fileprivate init?(remoteName text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.count == 8, let replica = ReplicaID(String(parts[0])),
      let incarnation = UInt32(parts[1], radix: 16)
    else { return nil }
    self.init(replica: replica, incarnation: incarnation)
  }
}
