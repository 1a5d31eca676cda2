import Foundation
import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("A pending database key")
struct PendingDatabaseTests {
  private func contents(_ entries: [KeyringEntry] = []) throws -> KeyringContents {
    var generator = SystemRandomNumberGenerator()
    let replica = ReplicaID(Identifier128.random(using: &generator))
    return KeyringContents(identity: try Identity.generate(replica: replica), entries: entries)
  }

  @Test("is kept beside the database's own, survives coding, and takes its place")
  func taken() throws {
    let other = KeyringEntry(tag: 99, bytes: SecretBytes(random: 5))
    var contents = try contents([other])
    let (old, key) = (contents.databaseKey, SecretBytes(random: 32))
    contents.setPendingDatabase(PendingDatabase(key: key))
    contents = try KeyringContents(decoding: contents.encoded())
    var pending = try #require(try contents.pendingDatabase)
    #expect(pending.key == key && pending.salt == nil && contents.databaseKey == old)
    pending.salt = [UInt8](repeating: 3, count: 16)
    contents.setPendingDatabase(pending)
    contents = try KeyringContents(decoding: contents.encoded())
    try contents.takePendingDatabase()
    #expect(contents.databaseKey == key && contents.databaseSalt == pending.salt)
    #expect(try contents.pendingDatabase == nil)
    #expect(contents.entries == [other])
  }

  @Test("that is not of its form is damage", arguments: [0, 31, 33, 47, 49])
  func malformed(count: Int) throws {
    let contents = try contents([KeyringEntry(tag: 16, bytes: SecretBytes(random: count))])
    #expect(throws: GodwitError.self) { try contents.pendingDatabase }
  }
}
