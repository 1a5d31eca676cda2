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

  /// Nil for a name of another form: there is one for each file.
  package init?(_ text: String) {
    if text == Self.markerName {
      self = .marker
      return
    }
    var text = text
    guard let name = text.withUTF8({ Self.read($0[...]) }) else { return nil }
    self = name
  }

  private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

  private static func read(_ text: Bytes) -> RemoteName? {
    guard text.count > 2, text[1] == UInt8(ascii: "/") else { return nil }
    let name = text.dropFirst(2)
    let folder = String(decoding: text.prefix(1), as: UTF8.self)
    if folder == requests { return replica(name).map { .request($0) } }
    if folder == invitations { return replica(name).map { .invitation($0) } }
    guard let origin = origin(name.prefix(originLength)) else { return nil }
    let rest = name.dropFirst(originLength)
    switch folder {
    case mailboxes where rest.isEmpty: return .mailbox(origin)
    case mailboxes: return rest.elementsEqual(logSuffix.utf8) ? .logMark(origin) : nil
    case logs: return number(rest).map { .log(origin, $0) }
    case states: return digits(rest).map { .state(origin, sealedTo: $0) }
    case bases: return digits(rest).map { .base(origin, hash: $0) }
    case epochs: return digits(rest).map { .epoch(origin, key: $0) }
    default: return nil
    }
  }

  private static let originLength = 41

  /// 32 digits, `-` and 8 digits.
  private static func origin(_ text: Bytes) -> Origin? {
    let (name, rest) = (text.prefix(32), text.dropFirst(32))
    guard rest.first == UInt8(ascii: "-"), rest.count == 9, let replica = replica(name),
      let incarnation = hexadecimal(rest.dropFirst())
    else { return nil }
    return Origin(replica: replica, incarnation: UInt32(incarnation))
  }

  private static func replica(_ text: Bytes) -> ReplicaID? {
    guard text.count == 32, let high = hexadecimal(text.prefix(16)), let low = hexadecimal(text.dropFirst(16)) else {
      return nil
    }
    return ReplicaID(Identifier128(high: high, low: low))
  }

  /// At most 16 lower-case digits.
  private static func hexadecimal(_ text: Bytes) -> UInt64? {
    var value: UInt64 = 0
    for byte in text {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return value
  }

  /// The first 16 digits of a hash behind a dash.
  private static func digits(_ text: Bytes) -> String? {
    guard text.count == 17, text.first == UInt8(ascii: "-"), hexadecimal(text.dropFirst()) != nil else { return nil }
    return String(decoding: text.dropFirst(), as: UTF8.self)
  }

  /// A number above 0 behind a dash.
  private static func number(_ text: Bytes) -> UInt32? {
    guard text.count > 1, text.first == UInt8(ascii: "-"), text.dropFirst().first != UInt8(ascii: "0"),
      text.dropFirst().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    return UInt32(String(decoding: text.dropFirst(), as: UTF8.self))
  }
}

extension Origin {
  /// 32 digits, `-` and 8 digits.
  fileprivate var remoteName: String {
    var writer = ByteWriter(capacity: 4)
    writer.bigEndian(incarnation)
    return "\(replica)-\(Hexadecimal.encode(writer.bytes))"
  }
}
