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
