import GodwitBase
import GodwitKeys
import GodwitEngine
import GodwitStorage

extension Replica {
  /// Changes the roster in the keyring in one step. Throws `invalidArgument` when this replica is no active member
  /// itself: nobody would believe what it states.
  func changeRoster(
    _ change: @escaping @Sendable (inout Roster, inout KeyringContents, _ now: Int64) throws -> Void
  ) async throws {
    let location = folder.keys
    let group = group
    let wallClock = wallClock
    try requireOpen()
    try await BlockingThread.run { try Self.changeRoster(at: location, of: group, wallClock, change) }
  }

  static func changeRoster(
    at location: KeyringLocation, of group: GroupID, _ wallClock: WallClock,
    _ change: (inout Roster, inout KeyringContents, _ now: Int64) throws -> Void
  ) throws {
    try Keyring.update(at: location) { contents in
      var roster = Roster(group: group, trusted: try contents.roster)
      guard roster[contents.identity.replica]?.isActive == true else {
        throw GodwitError(
          .invalidArgument, "this replica was removed from the group, so the others would not believe it",
          hint: "have a member add it again")
      }
      try change(&roster, &contents, wallClock.milliseconds())
      contents.setRoster(roster.records)
    }
  }

  func withKeyring<Output: Sendable>(
    _ body: @escaping @Sendable (KeyringContents, Roster) throws -> Output
  ) async throws -> Output {
    let (location, trusted) = (folder.keys, trusted)
    try requireOpen()
    return try await BlockingThread.run {
      let contents = try Keyring.open(at: location)
      return try body(contents, trusted.roster(contents))
    }
  }
}
