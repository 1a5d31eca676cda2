import Foundation
import GodwitFiles
import GodwitKeys
import GodwitStorage
import Synchronization
import TestFolders
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("A backup", .timeLimit(.minutes(2)))
struct BackupTests {
  private let group: TestGroup
  private var replica: Replica { group[0] }
  private var file: String { group.folder.file("notes.backup") }

  init() async throws {
    group = try await TestGroup(1)
    try await group[0].write { tx in
      for number in 0..<200 { try tx.insert(Note(title: "note \(number)", body: String(repeating: "x", count: 100))) }
    }
  }

  @Test("opens on a fresh machine with a recovery code alone, and holds all of it")
  func freshMachine() async throws {
    let code = ReplicaKeyring.newRecoveryCode()
    try await ReplicaKeyring(at: replica.path).add(label: "paper", openedBy: [.recoveryCode(code)])
    let digest = try await replica.maintenance.digest()
    let report = try await replica.maintenance.backup(to: file)
    #expect(report.bytes == (try Data(contentsOf: URL(fileURLWithPath: file))).count)
    #expect(report.slots.map(\.label) == ["machine", "paper"])
    await replica.close()
    try FileManager.default.removeItem(atPath: replica.path)

    let path = group.folder.file("elsewhere")
    let keys = Replica.KeySource.keyring(openedBy: [.recoveryCode(code)])
    let restored = try await Replica.restore(file, to: path, key: keys)
    #expect(restored.hasRestoredKeyring)
    #expect(restored.replica == replica.identity.replica && restored.group == replica.group)
    #expect(restored.verification.digest == digest)
    let again = try await Replica.open(
      at: path, models: Folder.self, Note.self, Draft.self, configuration: .init(key: keys, mustExist: true))
    #expect(try await again.maintenance.digest() == digest)
    #expect(try await again.maintenance.verify().isSound)
    try await again.write { try $0.insert(Note(title: "goes on")) }
    await again.close()
  }

  @Test("asks for the secret once, which may come through a pipe")
  func asksOnce() async throws {
    let code = ReplicaKeyring.newRecoveryCode()
    try await ReplicaKeyring(at: replica.path).add(label: "paper", openedBy: [.recoveryCode(code)])
    _ = try await replica.maintenance.backup(to: file)
    await replica.close()
    let asked = Heard()
    let keys = Replica.KeySource.keyring(openedBy: [
      .recoveryCode {
        asked.hear(1)
        return Array(code.utf8)
      }
    ])
    _ = try await Replica.restore(file, to: group.folder.file("elsewhere"), key: keys)
    #expect(asked.values.withLock { $0.count } == 1)
  }

  @Test("does not open without one of the secrets")
  func noKey() async throws {
    _ = try await replica.maintenance.backup(to: file)
    await replica.close()
    let path = group.folder.file("elsewhere")
    #expect(await code { try await Replica.restore(file, to: path) } == .noKeyFits)
    let wrong = Replica.KeySource.keyring(openedBy: [.recoveryCode(ReplicaKeyring.newRecoveryCode())])
    #expect(await code { try await Replica.restore(file, to: path, key: wrong) } == .noKeyFits)
    #expect(!FileManager.default.fileExists(atPath: "\(path)/keyring"))
    #expect(!FileManager.default.fileExists(atPath: "\(path)/database"))
  }

  @Test("is open to this user alone, replaces an earlier one, and leaves nothing beside it")
  func modes() async throws {
    _ = try await replica.maintenance.backup(to: file)
    try await replica.write { _ = try $0.delete(Note.all) }
    let heard = Heard()
    let second = try await replica.maintenance.backup(to: file, progress: heard.hear)
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    let names = try FileManager.default.contentsOfDirectory(atPath: group.folder.path)
    #expect(names.filter { $0.hasPrefix("notes.backup") } == ["notes.backup"])
    let values = heard.values.withLock { $0 }
    #expect(values.last == 1 && values == values.sorted())
    #expect(second.bytes % 4_096 == 0)
    await replica.close()
    let report = try await Replica.restore(file, to: replica.path)
    #expect(report.verification.rows == 0)
  }

  @Test("is encrypted at every moment of its making, for no handle without a key has a part in it")
  func encryptedThroughout() async throws {
    try await replica.write { try $0.insert(Note(title: MarkerScan.marker)) }
    let place = group.folder.file("place")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    let findings = Mutex<(files: Int, bytes: Int, plain: [String])>((0, 0, []))
    _ = try await replica.maintenance.backup(to: "\(place)/notes.backup") { _ in
      let scan = MarkerScan(of: place)
      findings.withLock {
        $0.files += scan.fileCount
        $0.bytes = max($0.bytes, scan.byteCount)
        $0.plain += scan.findings.map(\.marker)
      }
    }
    let (files, bytes, plain) = findings.withLock { $0 }
    #expect(files >= 2 && bytes > 100_000)
    #expect(plain == [])
    #expect(MarkerScan(of: place).findings.isEmpty)
    await replica.close()
  }

  @Test("of a database that cannot be read whole is not made, and the former one stays")
  func damaged() async throws {
    _ = try await replica.maintenance.backup(to: file)
    let former = try Data(contentsOf: URL(fileURLWithPath: file))
    await replica.close()
    let database = "\(replica.path)/database"
    let descriptor = open(database, O_WRONLY)
    let garbage = [UInt8](repeating: 0x5A, count: 64)
    try #require(pwrite(descriptor, garbage, garbage.count, 9 * 4_096 + 100) == garbage.count)
    close(descriptor)
    let damaged = try await Replica.open(at: replica.path, configuration: .init(isReadOnly: true))
    #expect(await code { try await damaged.maintenance.backup(to: file) } == .damagedDatabase)
    await damaged.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == former)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: group.folder.path).filter { $0.hasSuffix(".tmp") } == [])
  }

  @Test("is of one state, while others write")
  func online() async throws {
    let replica = replica
    let writer = Task {
      var count = 0
      while !Task.isCancelled {
        try await replica.write { tx in
          try tx.insert(Note(title: "a", views: 1))
          try tx.insert(Note(title: "b", views: -1))
        }
        count += 1
      }
      return count
    }
    for _ in 0..<5 { _ = try await replica.maintenance.backup(to: file) }
    writer.cancel()
    _ = try? await writer.value
    let path = group.folder.file("copy")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    chmod(path, 0o700)
    let machineKey = Replica.KeySource.keyring(machineKey: "\(replica.path)/machine.key")
    _ = try await Replica.restore(file, to: path, key: machineKey)
    let copy = try await Replica.open(
      at: path, models: Folder.self, Note.self, Draft.self, configuration: .init(key: machineKey, mustExist: true))
    let sum = try await copy.fetch(Note.all).reduce(0) { $0 + $1.views }
    #expect(sum == 0)
    #expect(try await copy.maintenance.verify().problems == [])
    await copy.close()
    await replica.close()
  }

  @Test("that is cancelled leaves nothing, and the former one as it was")
  func cancelled() async throws {
    try await replica.write { tx in
      for number in 0..<4_000 { try tx.insert(Note(title: "\(number)", body: String(repeating: "y", count: 300))) }
    }
    try Data("former".utf8).write(to: URL(fileURLWithPath: file))
    let (replica, file) = (replica, file)
    let task = Task { try await replica.maintenance.backup(to: file) { _ in withUnsafeCurrentTask { $0?.cancel() } } }
    task.cancel()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("former".utf8))
    let names = try FileManager.default.contentsOfDirectory(atPath: group.folder.path)
    #expect(names.filter { $0.hasPrefix("notes.backup") } == ["notes.backup"])
    await replica.close()
  }

  @Test("is not written into the replica's folder")
  func ownFolder() async throws {
    #expect(await code { try await replica.maintenance.backup(to: "\(replica.path)/database") } == .invalidArgument)
    #expect(try await replica.maintenance.verify().isSound)
    await replica.close()
  }

  @Test("that was changed anywhere is refused, and nothing is made of it")
  func everyPart() async throws {
    _ = try await replica.maintenance.backup(to: file)
    await replica.close()
    let content = try Data(contentsOf: URL(fileURLWithPath: file))
    let digest = try await replicaDigest()
    let changed = group.folder.file("changed")
    for offset in Array(stride(from: 0, to: content.count, by: 9_973)) + [content.count - 1, content.count - 40] {
      var bytes = content
      bytes[offset] ^= 0x10
      try bytes.write(to: URL(fileURLWithPath: changed))
      let found = await code { try await Replica.restore(changed, to: replica.path) }
      #expect([.corruptFile, .damagedKeyring, .noKeyFits].contains(found), "\(offset): \(String(describing: found))")
    }
    for count in [0, 1, 4_095, content.count / 2, content.count - 1] {
      try content.prefix(count).write(to: URL(fileURLWithPath: changed))
      #expect(await code { try await Replica.restore(changed, to: replica.path) } == .corruptFile, "\(count) bytes")
    }
    try (content + Data([0])).write(to: URL(fileURLWithPath: changed))
    #expect(await code { try await Replica.restore(changed, to: replica.path) } == .corruptFile)
    #expect(try await replicaDigest() == digest)
    let left = try FileManager.default.contentsOfDirectory(atPath: replica.path).filter { $0.hasPrefix("database") }
    #expect(Set(left) == ["database", "database-gate"])
  }

  private func replicaDigest() async throws -> String {
    let open = try await Replica.open(at: replica.path, configuration: .init(isReadOnly: true))
    let digest = try await open.maintenance.digest()
    await open.close()
    return digest
  }

  @Test("of another version is distinguished from a damaged one")
  func otherVersions() async throws {
    _ = try await replica.maintenance.backup(to: file)
    await replica.close()
    var content = try Data(contentsOf: URL(fileURLWithPath: file))
    content[content.count - 64 + 9] = 2
    try content.write(to: URL(fileURLWithPath: file))
    #expect(await code { try await Replica.restore(file, to: replica.path) } == .unsupportedVersion)
  }

  @Test("that is cut or grows while it is restored is damaged", arguments: [-4_096, 1 << 30])
  func changing(by difference: Int) async throws {
    _ = try await replica.maintenance.backup(to: file)
    await replica.close()
    let backup = try BackupFile(file)
    let size = try #require(FileManager.default.attributesOfItem(atPath: file)[.size] as? Int)
    let place = group.folder.file("target")
    try DatabaseFile.create(place)
    let found = await code {
      try backup.extract(to: try PrivateFile.open(place, writing: true)) { fraction in
        if fraction == 1 { truncate(file, size + difference) }
      }
    }
    #expect(found == (difference < 0 ? .corruptFile : nil))
  }
}
