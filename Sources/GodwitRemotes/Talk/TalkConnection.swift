import GodwitBase

/// What carries a talk to another replica.
package protocol TalkConnection: Sendable {
  var stream: SocketStream { get }

  /// Ends it, and what carries it. Blocks for as long as that takes.
  func end()

  /// Why there was no talk.
  ///
  /// - Parameter banner: What came in place of the magic.
  func explanation(_ banner: String) -> GodwitError

  /// Why a talk was cut.
  func explanation(of error: GodwitError) -> GodwitError
}
