import Foundation
import GodwitBase
import Synchronization
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Specs/vectors/invitation: invitations with what they hold, or the error that joining by them gives.
@Suite("Invitation vectors")
struct InvitationVectorTests {
  static let folder = URL(fileURLWithPath: ContainerVectorTests.folder).deletingLastPathComponent()
    .appendingPathComponent("invitation").path

  static let names: [String] = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    .filter { $0.hasSuffix(".json") }.sorted()

  @Test("each gives what it says, to one who trusts whoever it is", arguments: names)
  func vector(name: String) async throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: "\(Self.folder)/\(name)"))
    let vector = try JSONDecoder().decode(InvitationVector.self, from: data)
    let (folder, path, invitation) = try vector.place()
    defer { withExtendedLifetime(folder) {} }
    let before = try Forgery.bytes("\(path)/keyring")
    let inviter = Mutex<PublicIdentity?>(nil)
    let verification = Member.Verification.comparison { identity in
      inviter.withLock { $0 = identity }
      return true
    }
    do {
      let replica = try await Replica.join(at: path, invitation: .file(invitation), inviter: verification)
      let expected = try #require(vector.content, "it was believed")
      let seen = try #require(inviter.withLock { $0 })
      #expect(try await InvitationVector.Content(replica, inviter: seen) == expected)
      await replica.close()
    } catch let error as GodwitError {
      #expect(error.code.rawValue == vector.error, "\(error)")
      #expect(error.hint != nil, "\(error)")
      #expect(inviter.withLock { $0 } == nil, "somebody was asked about an invitation that is no good")
      #expect(try Forgery.bytes("\(path)/keyring") == before)
      #expect(!FileManager.default.fileExists(atPath: "\(path)/database"))
    }
  }

  @Test("the vectors are there, good ones and one for each failure")
  func coverage() {
    #expect(Self.names.filter { $0.hasPrefix("open-") }.count >= 4)
    #expect(Self.names.filter { $0.hasPrefix("refuse-") }.count >= 40)
  }
}
