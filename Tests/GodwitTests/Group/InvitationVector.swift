import Foundation
import GodwitBase

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys

/// One file of Specs/vectors/invitation: an invitation, who joins by it, and what that gives.
struct InvitationVector: Codable {
  struct Member: Codable, Equatable {
    let replica: String
    let name: String
    let active: Bool
    let fingerprint: String
  }

  struct Content: Codable, Equatable {
    let group: String
    let inviter: String
    let inviterWords: String
    let members: [Member]
  }

  let title: String
  /// The joiner's private identity, hexadecimal.
  let identity: String
  /// The invitation, hexadecimal.
  let file: String
  var content: Content?
  var error: String?
}

extension InvitationVector {
  init(_ title: String, _ identity: Identity, _ file: [UInt8]) {
    var writer = ByteWriter()
    identity.encode(to: &writer)
    self.init(title: title, identity: Hexadecimal.encode(writer.bytes), file: Hexadecimal.encode(file))
  }

  private func bytes(_ text: String) throws -> [UInt8] {
    guard let bytes = Hexadecimal.decode(text) else { throw GodwitError(.invalidArgument, "no hexadecimal digits") }
    return bytes
  }

  func joiner() throws -> Identity {
    var reader = ByteReader(try bytes(identity))
    return try Identity(reading: &reader)
  }

  /// A folder in which the joiner has made its identity, and the invitation beside it.
  func place() throws -> (folder: TemporaryFolder, path: String, invitation: String) {
    let folder = try TemporaryFolder()
    let path = folder.file("replica")
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try Keyring.create(
      at: KeyringLocation(keyring: "\(path)/keyring", machineKey: "\(path)/machine.key"),
      contents: KeyringContents(identity: joiner()))
    try Data(bytes(file)).write(to: URL(fileURLWithPath: folder.file("invitation")))
    return (folder, path, folder.file("invitation"))
  }
}

extension InvitationVector.Content {
  /// What one who has joined knows.
  init(_ replica: Replica, inviter: PublicIdentity) async throws {
    group = "\(replica.group)"
    self.inviter = inviter.fingerprint
    inviterWords = inviter.fingerprintWords
    members = try await replica.members.list().map {
      .init(
        replica: "\($0.identity.replica)", name: $0.name, active: $0.isActive, fingerprint: $0.identity.fingerprint)
    }
  }
}
