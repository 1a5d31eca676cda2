import Foundation
import GodwitCrypto
import GodwitKeys
import Logging
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Keys and logs")
struct RekeySecretTests {
  @Test("a rekey, a backup and its restoring log no key, also with all values")
  func logs() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("replica")
    let lines = StatementLines()
    let replica = try await Replica.open(
      at: path, models: Folder.self, Note.self, configuration: .init(statements: .withValues, logger: lines.logger))
    try await replica.write { try $0.insert(Note(title: "shown")) }
    var keys: [SecretBytes] = []
    func collect() throws { keys.append(try Keyring.open(at: replica.folder.keys).databaseKey) }
    try collect()
    try await replica.maintenance.rekey()
    try collect()
    _ = try await replica.maintenance.backup(to: folder.file("backup"))
    _ = try await replica.count(Note.all)
    await replica.close()
    #expect(keys.count == 2 && keys[0] != keys[1])
    let text = lines.all.joined(separator: "\n").lowercased()
    #expect(text.contains("shown"))
    for key in keys {
      let digits = key.withUnsafeBytes { Hexadecimal.encode(Array($0)) }
      #expect(!text.contains(digits))
      #expect(!text.contains(digits.prefix(16)))
    }
  }
}
