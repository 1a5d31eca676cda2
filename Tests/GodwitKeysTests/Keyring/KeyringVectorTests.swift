import Foundation
import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

/// Specs/vectors/keyring: a keyring each, with what opens it and what it holds, or the error it gives.
@Suite("Keyring vectors")
struct KeyringVectorTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Specs/vectors/keyring").path

  static let names: [String] = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    .filter { $0.hasSuffix(".json") }.sorted()

  @Test("each gives what it says", arguments: names)
  func vector(name: String) throws {
    let vector = try JSONDecoder().decode(KeyringVector.self, from: Data(readFile("\(Self.folder)/\(name)")))
    let folder = try TemporaryFolder()
    let bytes = try #require(Hexadecimal.decode(vector.keyring))
    try writeFile(folder.path("keyring"), bytes)
    let location = KeyringLocation(keyring: folder.path("keyring"), secrets: try vector.offered(in: folder))
    var found: KeyringVector.Contents?
    let error = code {
      let contents = try Keyring.open(at: location)
      found = try KeyringVector.Contents(contents, Keyring.slots(at: location.keyring).slots)
    }
    #expect(error?.rawValue == vector.error)
    #expect(found == vector.contents)
    guard found != nil else { return }
    // Written again by this version, it holds the same.
    try Keyring.update(at: location) { _ in }
    let again = try Keyring.open(at: location)
    #expect(again.generation == (vector.contents?.generation ?? 0) + 1)
    #expect(Hexadecimal.encode(try again.encoded()) == vector.contents?.body)
  }

  @Test("the vectors are there")
  func coverage() { #expect(Self.names.count >= 40) }
}

struct KeyringVector: Codable {
  struct Slot: Codable, Equatable {
    let label: String
    let factors: [String]
    let credential: String?
  }

  struct Contents: Codable, Equatable {
    let generation: UInt64
    let body: String
    let replica: String
    let fingerprint: String
    let databaseKey: String
    let databaseSalt: String?
    let group: String?
    let members: [String]
    let slots: [Slot]

    init(_ contents: KeyringContents, _ slots: [SlotDescription]) throws {
      generation = contents.generation
      body = Hexadecimal.encode(try contents.encoded())
      replica = "\(contents.identity.replica)"
      fingerprint = contents.identity.publicIdentity.fingerprint
      databaseKey = contents.databaseKey.withUnsafeBytes { Hexadecimal.encode(Array($0)) }
      databaseSalt = contents.databaseSalt.map { Hexadecimal.encode($0) }
      group = contents.group.map { "\($0)" }
      members = contents.members.map(\.name)
      self.slots = slots.map { Slot(label: $0.label, factors: $0.factors, credential: $0.credential) }
    }
  }

  let title: String
  /// The file, hexadecimal.
  let keyring: String
  var machineKey: String?
  var passphrases: [String]?
  var recoveryCode: String?
  var commandOutput: String?
  var credentials: [String: String]?
  var contents: Contents?
  var error: String?

  /// What the vector offers, in this order.
  func offered(in folder: TemporaryFolder) throws -> [SlotSecret] {
    var secrets: [SlotSecret] = []
    if let machineKey {
      try writeFile(folder.path("machine-key"), Array(machineKey.utf8))
      secrets.append(.machineKey(at: folder.path("machine-key")))
    }
    secrets += (passphrases ?? []).map { .passphrase($0) }
    if let recoveryCode { secrets.append(.recoveryCode(recoveryCode)) }
    if let commandOutput {
      try writeFile(folder.path("output"), Array(commandOutput.utf8))
      secrets.append(.command(["cat", folder.path("output")]))
    }
    for (name, text) in credentials ?? [:] {
      try writeFile(folder.path(name), Array(text.utf8))
      secrets.append(.credential(named: name, in: folder.path))
    }
    return secrets
  }
}
