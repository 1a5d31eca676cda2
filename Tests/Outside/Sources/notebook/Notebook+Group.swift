import Foundation
import Godwit

// How a second machine comes to have the notebook.
extension Notebook {
  /// What a machine shows others of itself, made where there is none.
  static func identity(in folder: String) async throws -> PublicIdentity {
    try await Replica.identity(at: folder)
  }

  /// Makes the machine whose identity is in a file a member, and writes the invitation for it. The fingerprint is what
  /// that machine's owner has read aloud.
  func invite(_ identityFile: String, name: String, fingerprint: String, to invitation: String) async throws {
    let text = try String(contentsOfFile: identityFile, encoding: .utf8)
    let identity = try PublicIdentity(text.trimmingCharacters(in: .whitespacesAndNewlines))
    try await replica.members.invite(
      identity, name: name, verification: .fingerprint(fingerprint), to: .file(invitation))
  }

  /// Joins the group that an invitation is from. The fingerprint is what the inviter has read aloud.
  static func join(in folder: String, by invitation: String, fingerprint: String) async throws {
    let replica = try await Replica.join(
      at: folder, invitation: .file(invitation), inviter: .fingerprint(fingerprint))
    await replica.close()
  }
}
