import GodwitBase
import GodwitCore

/// Histories that a file gets wrong.
extension GodwitError {
  static func falseContext(_ dot: Dot) -> GodwitError {
    GodwitError(
      .corruptFile, "the file says that transaction \(dot.sequence) of \(dot.origin.replica) had seen what it had not",
      hint: "nothing was changed; ask its author, or another member, for a file")
  }

  package static func brokenChain(_ origin: Origin) -> GodwitError {
    GodwitError(
      .corruptFile, "the transactions of \(origin.replica) do not have the hash that the file gives for them",
      hint: "nothing was changed; ask the sender for the file again")
  }
}
