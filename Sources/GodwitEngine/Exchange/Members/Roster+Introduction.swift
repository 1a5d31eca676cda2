import GodwitBase
import GodwitKeys
import GodwitSyncFile

extension Roster {
  /// The records by which a reader can know a member that it has not met: the member's own, the one that this stands
  /// on, and so on towards the founder's, as far as a file has room for them (Specs/sync-file.md, "Introduction").
  func introduction(of replica: ReplicaID) -> RosterRecords {
    var path: [MemberRecord] = []
    var next = deciding[replica]
    while path.count < SyncFilePreamble.introductionLimit, let record = next.flatMap({ memberRecords[$0] }),
      !path.contains(where: { $0.subject == record.subject })
    {
      path.append(record)
      next = record.ground
    }
    // Nobody believes a founder for what it says of itself.
    let invited = path.filter { $0.issuer != $0.subject }
    var introduction = RosterRecords(members: invited.sorted { $0.subject < $1.subject })
    var seen: Set<ReplicaID> = []
    // The nearest first: without its own history nobody knows by which key the file is signed.
    for issuer in path.flatMap({ [$0.subject, $0.issuer] }) where seen.insert(issuer).inserted {
      guard let history = self[issuer]?.history, !history.successors.isEmpty else { continue }
      var longer = introduction
      longer.histories = (longer.histories + [history]).sorted { $0.replica < $1.replica }
      guard SyncFilePreamble.hasRoom(for: longer) else { break }
      introduction = longer
    }
    return introduction
  }
}
