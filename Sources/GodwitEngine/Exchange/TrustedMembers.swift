import GodwitBase
import GodwitKeys
import GodwitSyncFile

/// The members as the own keyring has them, while a file is taken in.
package struct TrustedMembers {
  let group: GroupID
  let location: KeyringLocation

  package init(group: GroupID, location: KeyringLocation) {
    self.group = group
    self.location = location
  }

  /// Once the import has its turn: another one may have brought news since the file was opened.
  func load() throws -> Roster { Roster(group: group, trusted: try Keyring.open(at: location).roster) }

  /// Keeps that the sender of a file was removed, where nothing but the file's own introduction shows it. The file is
  /// refused for that, and who is to be let in again has to be known as removed.
  package func rememberRemoval(of sender: ReplicaID, in introduction: RosterRecords, beyond known: Roster) throws {
    var shown = known
    shown.merge(introduction)
    guard known[sender]?.isActive == true, shown[sender]?.isActive == false else { return }
    try keep(introduction)
  }

  /// Keeps what a verified file said of members, for whom its sender vouches, unless all of it was there when the
  /// import had its turn.
  func remember(_ records: RosterRecords, beyond known: Roster) throws {
    var known = known
    guard known.merge(records, isVouchedFor: true) else { return }
    try keep(records, isVouchedFor: true)
  }

  private func keep(_ records: RosterRecords, isVouchedFor: Bool = false) throws {
    try Keyring.update(at: location) { contents in
      var roster = Roster(group: group, trusted: try contents.roster)
      roster.merge(records, isVouchedFor: isVouchedFor)
      contents.setRoster(roster.records)
    }
  }
}
