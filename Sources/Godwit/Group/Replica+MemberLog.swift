import GodwitBase
import GodwitKeys
import GodwitEngine

extension Replica {
  /// What has happened to the group's members, as far as it counts: who founded it, was added, removed and renamed,
  /// took new keys or lapsed, when and by whom, in the order of the times that the records state.
  ///
  /// - Throws: What reading the keyring throws.
  public func memberLog() async throws -> [Member.Change] {
    try await withKeyring { _, roster in roster.changes }
  }
}
