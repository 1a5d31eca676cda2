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

  /// Keeps what a verified file said of members, for whom its sender vouches, unless all of it was there when the
  /// import had its turn.
  func remember(_ records: RosterRecords, beyond known: Roster) throws {
    var known = known
    guard known.merge(records, isVouchedFor: true) else { return }
    try Keyring.update(at: location) { contents in
      var roster = Roster(group: group, trusted: try contents.roster)
      roster.merge(records, isVouchedFor: true)
      contents.setRoster(roster.records)
    }
  }
}
