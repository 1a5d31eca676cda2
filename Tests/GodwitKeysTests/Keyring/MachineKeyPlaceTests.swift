import Foundation
import GodwitKeys
import TestFolders
import Testing

@Suite("Where a machine key lies that nobody has named")
struct MachineKeyPlaceTests {
  private let folder: String
  private let environment: [String: String]

  init() throws {
    folder = NSTemporaryDirectory() + "godwit-key-place-" + UUID().uuidString
    environment = ["HOME": "\(folder)/home"]
    for name in ["replica", "home/.config/godwit"] {
      try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
  }

  private var replica: String { "\(folder)/replica" }
  private var user: String { "\(folder)/home/.config/godwit/machine.key" }
  private var found: String {
    MachineKeyPlace.existing(for: "\(replica)/keyring", in: replica, environment: environment)
  }

  private func make(_ path: String) throws { try Data().write(to: URL(filePath: path)) }

  @Test("is the replica's folder for a new one, and for one that has it there")
  func beside() throws {
    defer { TestFolder.remove(folder) }
    try make(user)
    #expect(found == "\(replica)/machine.key")
    try make("\(replica)/keyring")
    try make("\(replica)/machine.key")
    #expect(found == "\(replica)/machine.key")
  }

  @Test("is the user's for a keyring without one beside it, if the user has one")
  func users() throws {
    defer { TestFolder.remove(folder) }
    try make("\(replica)/keyring")
    #expect(found == "\(replica)/machine.key")
    try make(user)
    #expect(found == user)
  }
}
