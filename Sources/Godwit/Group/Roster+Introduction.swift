import GodwitKeys
import GodwitSyncFile

extension Roster {
  /// The records by which a reader can know a member that it has not met: the member's own, its inviter's, and so on towards
  /// the founder, as far as a file has room for them (Specs/sync-file.md, "Introduction").
  func introduction(of replica: ReplicaID) -> RosterRecords {
    var path: [Entry] = []
    var issuer = replica
    while path.count < SyncFilePreamble.introductionLimit, let entry = self[issuer], !path.contains(where: { $0.identity.replica == issuer })
    {
      path.append(entry)
      issuer = entry.record.issuer
    }
    // Nobody believes a founder for what it says of itself.
    let invited = path.map(\.record).filter { $0.issuer != $0.subject }
    return RosterRecords(
      members: invited.sorted { $0.subject < $1.subject },
      histories: path.map(\.history).filter { !$0.successors.isEmpty }.sorted { $0.replica < $1.replica })
  }
}
