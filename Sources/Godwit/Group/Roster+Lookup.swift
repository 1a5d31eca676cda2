import GodwitBase
import GodwitKeys

extension Roster {
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
        hint: "to let it back in: godwit member add; it then imports a snapshot with --rejoin, which keeps its changes")
    }
    return member
  }

  /// The active member that a name, or a replica ID, stands for.
  ///
  /// Throws `invalidArgument` when there is none, or the name is that of several.
  func activeMember(_ name: String) throws -> Entry {
    let found = active.filter { $0.name == name || "\($0.identity.replica)" == name }
    guard let member = found.first else {
      throw GodwitError(.invalidArgument, "no active member is called \(name)", hint: "see: godwit member list")
    }
    guard found.count == 1 else {
      throw GodwitError(
        .invalidArgument, "\(found.count) members are called \(name)",
        hint: "give the replica ID of the one that is meant: godwit member list")
    }
    return member
  }

  /// Throws `invalidArgument` when another active member has the name.
  func requireFree(_ name: String, for replica: ReplicaID) throws {
    guard !active.contains(where: { $0.name == name && $0.identity.replica != replica }) else {
      throw GodwitError(.invalidArgument, "there is a member called \(name) already", hint: "choose another name")
    }
  }
}
