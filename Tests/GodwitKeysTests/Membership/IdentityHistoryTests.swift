import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("The history of an identity")
struct IdentityHistoryTests {
  private let group = newGroup()
  private let keys: [Identity]

  init() throws {
    let first = try newIdentity()
    keys = try [first] + (0..<3).map { _ in try Identity.generate(replica: first.replica) }
  }

  /// The first so many of the keys, one after another.
  private func history(_ count: Int) throws -> IdentityHistory {
    var history = IdentityHistory(keys[0].publicIdentity)
    for number in 1..<count {
      try history.append(keys[number], after: keys[number - 1], group: group, at: Int64(number))
    }
    return history
  }

  private func encoded(_ history: IdentityHistory) -> [UInt8] {
    var writer = ByteWriter()
    history.encode(to: &writer)
    return writer.bytes
  }

  private func extended(_ history: IdentityHistory, by other: IdentityHistory) -> IdentityHistory {
    var history = history
    let before = history
    let isNew = history.extend(by: other, group: group)
    #expect(isNew == (history != before))
    return history
  }

  @Test("reads back as written")
  func roundTrip() throws {
    let history = try history(4)
    var reader = ByteReader(encoded(history))
    let again = try IdentityHistory(reading: &reader)
    #expect(reader.isAtEnd && again == history && again.isSound(in: group))
    #expect(again.all == keys.map(\.publicIdentity) && again.current == keys[3].publicIdentity)
    #expect(!again.isSound(in: newGroup()))
  }

  @Test("with any byte changed is refused or does not lead on from the key that is known")
  func everyByte() throws {
    let bytes = encoded(try history(3))
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      var reader = ByteReader(changed)
      guard let other = try? IdentityHistory(reading: &reader), reader.isAtEnd else { continue }
      let reached = extended(IdentityHistory(keys[0].publicIdentity), by: other).current
      #expect(reached != keys[2].publicIdentity && keys.contains { $0.publicIdentity == reached }, "byte \(index)")
      #expect(!other.isSound(in: group), "byte \(index)")
    }
    for count in bytes.indices {
      var reader = ByteReader(bytes[..<count])
      #expect(code { _ = try IdentityHistory(reading: &reader) } != nil, "length \(count)")
    }
  }

  @Test("is extended from wherever it is known, and never shortened")
  func extending() throws {
    let all = try history(4)
    for count in 1...4 { #expect(extended(try history(count), by: all) == all) }
    #expect(extended(all, by: try history(2)) == all)
    #expect(extended(IdentityHistory(try newIdentity().publicIdentity), by: all).successors.isEmpty)
  }

  @Test("takes only keys of the same replica and kind that were not there before")
  func refused() throws {
    for next in [
      try newIdentity(), try Identity.generate(replica: keys[0].replica, kind: .hybrid), keys[0], keys[1],
    ] {
      var history = try history(2)
      #expect(code { try history.append(next, after: keys[1], group: group, at: 9) } == .invalidArgument)
      #expect(try history == self.history(2))
    }
    var history = try history(2)
    #expect(code { try history.append(keys[2], after: keys[0], group: group, at: 9) } == .invalidArgument)
  }

  @Test("post-quantum keys follow post-quantum keys")
  func postQuantum() throws {
    let first = try newIdentity(.hybrid)
    let next = try Identity.generate(replica: first.replica, kind: .hybrid)
    var history = IdentityHistory(first.publicIdentity)
    try history.append(next, after: first, group: group, at: 1)
    var reader = ByteReader(encoded(history))
    #expect(try IdentityHistory(reading: &reader) == history)
  }
}
