import Foundation
import GodwitCrypto
import GodwitKeys
import GodwitStorage
import Testing

@testable import Godwit
@testable import GodwitEngine

/// What a process leaves that is killed between two of a rekey's steps, made by hand at each of them.
@Suite("A rekey that was killed", .timeLimit(.minutes(1)))
struct RekeyRecoveryTests {
  private let group: TestGroup
  private let digest: String
  private let swap: DatabaseSwap
  private var replica: Replica { group[0] }
  private var keys: KeyringLocation { replica.folder.keys }

  init() async throws {
    group = try await TestGroup(1)
    try await group[0].write { try $0.insert(Note(title: "kept")) }
    digest = try await group[0].maintenance.digest()
    swap = DatabaseSwap(group[0].folder)
    await group[0].close()
  }

  /// Makes the new file as rekeying does.
  private func makeNewFile(key: SecretBytes) throws {
    let contents = try Keyring.open(at: keys)
    try DatabaseFile.create(swap.newFile)
    let source = try Connection(path: replica.folder.database, key: contents.databaseKey, mode: .reader)
    try source.execute("BEGIN")
    try DatabaseCopy.run(from: source, to: swap.newFile, key: key, hasLog: true)
  }

  private func setPending(_ key: SecretBytes, salt: [UInt8]? = nil) throws {
    try Keyring.update(at: keys) { $0.setPendingDatabase(PendingDatabase(key: key, salt: salt)) }
  }

  private func expectWhole(key: SecretBytes, at location: SourceLocation = #_sourceLocation) async throws {
    let again = try await TestGroup.open(replica.path)
    #expect(try await again.maintenance.digest() == digest, sourceLocation: location)
    #expect(try await again.maintenance.verify().isSound, sourceLocation: location)
    try await again.write { try $0.insert(Note(title: "goes on")) }
    await again.close()
    let contents = try Keyring.open(at: keys)
    #expect(try contents.pendingDatabase == nil, sourceLocation: location)
    #expect(contents.databaseKey == key, sourceLocation: location)
    #expect(try contents.databaseSalt == DatabaseFile.salt(replica.folder.database), sourceLocation: location)
    let left = try FileManager.default.contentsOfDirectory(atPath: replica.path).filter { $0.hasPrefix("database") }
    #expect(Set(left) == ["database", "database-gate"], sourceLocation: location)
  }

  @Test("before the copy began is undone")
  func beforeCopy() async throws {
    let old = try Keyring.open(at: keys).databaseKey
    try setPending(SecretBytes(random: 32))
    try await expectWhole(key: old)
  }

  @Test("in the middle of the copy is undone")
  func duringCopy() async throws {
    let old = try Keyring.open(at: keys).databaseKey
    let new = SecretBytes(random: 32)
    try setPending(new)
    try makeNewFile(key: new)
    truncate(swap.newFile, 4_096)
    for suffix in ["-wal", "-shm", "-journal"] { try Data([1]).write(to: URL(fileURLWithPath: swap.newFile + suffix)) }
    try await expectWhole(key: old)
  }

  @Test("with a whole copy that was not put in place is undone")
  func beforeRename() async throws {
    let old = try Keyring.open(at: keys).databaseKey
    let new = SecretBytes(random: 32)
    try setPending(new)
    try makeNewFile(key: new)
    try setPending(new, salt: DatabaseFile.salt(swap.newFile))
    try await expectWhole(key: old)
  }

  @Test("after the rename is finished, and the old log meets the new file in no case")
  func afterRename() async throws {
    let new = SecretBytes(random: 32)
    // A log that a killed writer left, with a whole commit in it.
    let contents = try Keyring.open(at: keys)
    let writer = try Connection(path: replica.folder.database, key: contents.databaseKey, mode: .writer)
    try writer.execute("CREATE TABLE only_in_the_log (a); INSERT INTO only_in_the_log VALUES (1)")
    let log = try Data(contentsOf: URL(fileURLWithPath: "\(replica.folder.database)-wal"))
    try writer.execute("DROP TABLE only_in_the_log")
    try setPending(new)
    try makeNewFile(key: new)
    try setPending(new, salt: DatabaseFile.salt(swap.newFile))
    rename(swap.newFile, replica.folder.database)
    withExtendedLifetime(writer) {}
    try log.write(to: URL(fileURLWithPath: "\(replica.folder.database)-wal"))
    try await expectWhole(key: new)
  }

  @Test("before anything was noted leaves a file that goes with the next opening")
  func strayFile() async throws {
    let old = try Keyring.open(at: keys).databaseKey
    try makeNewFile(key: SecretBytes(random: 32))
    try await expectWhole(key: old)
  }

  @Test("is left alone while its process lives")
  func alive() async throws {
    let old = try Keyring.open(at: keys).databaseKey
    let new = SecretBytes(random: 32)
    let lock = try swap.lock()
    try setPending(new)
    try makeNewFile(key: new)
    let other = try await TestGroup.open(replica.path)
    #expect(try await other.maintenance.digest() == digest)
    await other.close()
    #expect(FileManager.default.fileExists(atPath: swap.newFile))
    #expect(try Keyring.open(at: keys).databaseKey == old)
    try withExtendedLifetime(lock) { try swap.commit(isOpenElsewhere: true) }
    try await expectWhole(key: new)
  }

  @Test("without the keyring's last change is finished by a program that has the replica open, too")
  func finishedByOpenProgram() async throws {
    let open = try await TestGroup.open(replica.path)
    try await open.write { try $0.insert(Note(title: "more")) }
    let new = SecretBytes(random: 32)
    try setPending(new)
    try makeNewFile(key: new)
    try setPending(new, salt: DatabaseFile.salt(swap.newFile))
    rename(swap.newFile, replica.folder.database)
    try await open.write { try $0.insert(Note(title: "in the new file")) }
    #expect(try await open.count(Note.all) == 3)
    await open.close()
    #expect(try Keyring.open(at: keys).databaseKey == new)
  }
}
