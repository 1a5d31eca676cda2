import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitSyncFile

/// What the synced tables held, and of which history that is (Specs/state-hash.md, "Anchor").
package struct AnchoredState: Equatable {
  /// Over all that was held, as in a signed acknowledgement.
  let chains: ContentHash
  let state: StatedState

  init(chains: ContentHash, state: StatedState) {
    self.chains = chains
    self.state = state
  }

  /// Of what a log holds.
  init(_ state: StatedState, of log: ChangeLog) throws {
    chains = try Self.chains(of: log)
    self.state = state
  }

  static func chains(of log: ChangeLog) throws -> ContentHash {
    let hash = try SignedAcknowledgement.hash(log.origins.vector) { try log.origins.head(of: $0.origin).chain }
    return hash ?? .zero
  }

  init(reading reader: inout ByteReader) throws {
    chains = try ContentHash(reading: &reader)
    state = try StatedState(reading: &reader)
  }

  func write(to writer: inout ByteWriter) {
    writer.raw(chains.bytes)
    state.write(to: &writer)
  }
}
