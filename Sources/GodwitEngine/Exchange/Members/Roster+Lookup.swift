import GodwitBase
import GodwitKeys
import GodwitSyncFile

extension Roster {
  /// The active member that made a file, after taking in the records that introduce it. Throws `unknownSender`.
  package func sender(of preamble: SyncFilePreamble) throws -> Entry {
    var known = self
    known.merge(preamble.introduction)
    return try known.sender(preamble.sender)
  }

  /// Whether a file shows its sender's membership since the last removal: otherwise it was made before that, or by a
  /// replica that knows of neither. A file with a short header introduces nobody.
  func isAware(_ preamble: SyncFilePreamble, _ header: SyncFileHeader) -> Bool {
    guard let removal = lastRemoval(of: preamble.sender) else { return true }
    return (preamble.introduction.allMembers + header.roster.allMembers).contains {
      $0.subject == preamble.sender && $0.status == .active && $0.issuedAtMilliseconds > removal
    }
  }

  /// When the last removal of a replica was issued, in milliseconds since 1970 UTC.
  private func lastRemoval(of replica: ReplicaID) -> Int64? {
    memberRecords.filter { $1.subject == replica && $1.status == .removed && evaluation.counting.contains($0) }
      .map(\.value.issuedAtMilliseconds).max()
  }

  /// Whether a replica was removed and let in again between what it knew of itself and what is known here.
  func hasReturned(_ replica: ReplicaID, since known: Roster) -> Bool {
    guard self[replica]?.isActive == true, let removal = lastRemoval(of: replica) else { return false }
    guard let before = known[replica], before.isActive else { return true }
    return before.record.issuedAtMilliseconds <= removal
  }

  /// The active member that made a file. Throws `unknownSender`.
  package func sender(_ replica: ReplicaID) throws -> Entry {
    guard let member = self[replica] else {
      throw GodwitError(
        .unknownSender, "the file was made by \(replica), which is no member known here",
        hint: "import a file of another member, who may know it; or a member adds it with: godwit member add IDENTITY")
    }
    guard member.isActive else {
      throw GodwitError(
        .unknownSender, "the file was made by \(member.name), which was removed from this group",
        hint:
          "to let it back in: godwit member add; it then imports a state file with --rejoin, which keeps its changes")
    }
    return member
  }

  /// The active member that a text stands for. Throws `invalidArgument` when that is none, or several.
  package func activeMember(_ text: String) throws -> Entry { try MemberLookup(self, isActiveOnly: true).member(text) }

  /// The member that a text stands for, or one that was removed. Throws `invalidArgument` when that is none, or
  /// several.
  package func member(_ text: String) throws -> Entry { try MemberLookup(self, isActiveOnly: false).member(text) }

  /// Throws `invalidArgument` when another active member has the name, or one that looks like it, or when it is another
  /// replica's ID, which means that one wherever a member is named.
  package func requireFree(_ name: String, for replica: ReplicaID) throws {
    if let other = all.first(where: { "\($0.identity.replica)" == name.lowercased() }),
      other.identity.replica != replica
    {
      throw GodwitError(
        .invalidArgument, "\(name) is the ID of the replica \(other.name)", hint: "choose another name")
    }
    guard let other = active(alike: name).first(where: { $0.identity.replica != replica }) else { return }
    let what = other.name == name ? "called" : "whose name looks like"
    throw GodwitError(.invalidArgument, "there is a member \(what) \(name) already", hint: "choose another name")
  }

  private func active(alike name: String) -> [Entry] {
    let likeness = NameLikeness(name)
    return active.filter { NameLikeness($0.name) == likeness }
  }
}
