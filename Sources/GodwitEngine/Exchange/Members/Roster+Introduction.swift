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
    let issuers = Set(path.flatMap { [$0.subject, $0.issuer] })
    return RosterRecords(
      members: invited.sorted { $0.subject < $1.subject },
      histories: issuers.compactMap { self[$0]?.history }.filter { !$0.successors.isEmpty }
        .sorted { $0.replica < $1.replica }.suffix(SyncFilePreamble.introductionLimit).map { $0 })
  }
}
