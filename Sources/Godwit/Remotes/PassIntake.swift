import GodwitCore
import GodwitRemotes

/// Which of the files that a list shows anew are taken in a pass: whoever can write at a remote may put any number of
/// any names there (Specs/remotes.md, "A pass").
struct PassIntake {
  /// How many mailboxes of replicas that are no members here are looked at, and how large they may be: a member that
  /// joined may introduce itself.
  static let strangerLimit = (count: 16, bytes: 64 << 20)
  /// How many mailboxes of one member are looked at that were not taken before: each may be of a new incarnation.
  static let unknownLimit = 16

  private var members: [CarriedFile] = []
  private var strangers: [CarriedFile] = []
  private var unknown: [ReplicaID: Int] = [:]
  /// The names of members' mailboxes that are left for a later pass.
  private(set) var later: Set<String> = []

  /// What is taken, in its order: members' files before strangers'.
  var files: [CarriedFile] { members + strangers }

  /// - Parameters:
  ///   - isActive: Whether the name is an active member's; nil for one of nobody who is known. What is a removed
  ///     member's is passed over.
  ///   - isKnown: Whether a file of this name was taken before.
  mutating func add(_ file: CarriedFile, _ name: RemoteName, isActive: Bool?, isKnown: Bool) {
    switch isActive {
    case true?:
      if name.isMailbox, !isKnown, let replica = name.origin?.replica {
        unknown[replica, default: 0] += 1
        guard unknown[replica, default: 0] <= Self.unknownLimit else {
          later.insert(file.name)
          return
        }
      }
      members.append(file)
    case nil where name.isMailbox && file.size <= Self.strangerLimit.bytes:
      if strangers.count < Self.strangerLimit.count { strangers.append(file) }
    default: break
    }
  }
}
