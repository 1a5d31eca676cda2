import Foundation
import Godwit
import Testing

/// Specs/vectors/backup, on the backup of Specs/golden.
@Suite("Backup vectors")
struct BackupVectorTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Specs/vectors/backup").path
  static let names: [String] = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()

  @Test("each gives what it says, and where it is refused nothing is made of it", arguments: names)
  func vector(name: String) async throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: "\(Self.folder)/\(name)"))
    let vector = try JSONDecoder().decode(BackupVector.self, from: data)
    let folder = try TemporaryFolder()
    let (file, path, key) = (folder.file("backup"), folder.file("replica"), folder.file("machine.key"))
    let backup = Array(try Data(contentsOf: URL(fileURLWithPath: GoldenReplica.backup)))
    try Data(try vector.applied(to: backup)).write(to: URL(fileURLWithPath: file))
    try GoldenReplica.copy("machine.key", from: GoldenReplica.replica, to: folder.path)
    if let there = vector.folder {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      for name in there { try GoldenReplica.copy(name, from: GoldenReplica.replica, to: path) }
    }

    let source: Replica.KeySource = vector.withoutKey == true ? .keyring() : .keyring(openedBy: [.machineKey(at: key)])
    let refused = await error { try await Replica.restore(file, to: path, key: source) }
    #expect(refused?.code.rawValue == vector.error, "\(String(describing: refused))")
    if vector.error == nil {
      let restored = try await GoldenReplica.open(path, key: source)
      #expect(try await GoldenReplica.State(restored) == GoldenReplica.expected().before)
      await restored.close()
    } else {
      #expect(refused?.hint != nil)
      #expect(!FileManager.default.fileExists(atPath: "\(path)/database"))
    }
  }

  @Test("the vectors are there, good ones and one for each failure")
  func coverage() {
    #expect(Self.names.filter { $0.hasPrefix("open") }.count >= 2)
    #expect(Self.names.filter { $0.hasPrefix("refuse-") }.count >= 20)
  }
}
