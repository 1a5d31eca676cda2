import GodwitCore
import GodwitEngine
import GodwitRemotes

/// Which of the files that a list shows anew are taken in a pass: whoever can write at a remote may put any number of
/// any names there (Specs/remotes.md, "A pass").
struct PassIntake {
  /// How many mailboxes of replicas that are no members here are looked at, and how large they may be: a member that
  /// joined may introduce itself.
  static let strangerLimit = (count: 16, bytes: 64 << 20)
  /// How many mailboxes of one member are looked at that are not noted as taken: each may be of a new incarnation.
  static let unknownLimit = 16

  private var members: [CarriedFile] = []
  private var strangers: [CarriedFile] = []
  private var unknown: [ReplicaID: [(seenAt: Int64, file: CarriedFile)]] = [:]

  /// What is taken: members' files by their order, then their mailboxes that are not noted as taken, those first that
  /// were looked at longest ago or never, and strangers' at last.
  var files: [CarriedFile] {
    let chosen = unknown.values.flatMap { mailboxes in
      mailboxes.sorted { ($0.seenAt, $0.file.name) < ($1.seenAt, $1.file.name) }.prefix(Self.unknownLimit).map(\.file)
    }
    return members + chosen.sorted { $0.name < $1.name } + strangers
  }

  /// - Parameters:
  ///   - isActive: Whether the name is an active member's; nil for one of nobody who is known. What is a removed
  ///     member's is passed over.
  ///   - note: What is noted of a file of this name.
  mutating func add(_ file: CarriedFile, _ name: RemoteName, isActive: Bool?, note: RemoteNotes.File?) {
    switch isActive {
    case true?:
      if name.isMailbox, !(note?.isTaken ?? false), let replica = name.origin?.replica {
        unknown[replica, default: []].append((note?.at ?? .min, file))
      } else {
        members.append(file)
      }
    case nil where name.isMailbox && file.size <= Self.strangerLimit.bytes:
      if strangers.count < Self.strangerLimit.count { strangers.append(file) }
    default: break
    }
  }
}
