import Foundation
import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("The age program", .enabled(if: Programs.find("age") != nil))
struct AgeProgramTests {
  @Test("the program opens what is sealed here", arguments: [0, 42, 65_536, 200_000])
  func programOpens(count: Int) throws {
    let age = try #require(Programs.find("age"))
    let folder = try TemporaryFolder()
    let identities = try (0..<3).map { _ in try newAgeIdentity() }
    let plain = randomBytes(count)
    try writeFile(folder.path("key"), Array(identities[1].exportSecretText().utf8))
    try writeFile(folder.path("sealed"), try seal(plain, to: identities.map(\.recipient)))
    let status = try Programs.run(
      age, ["-d", "-i", folder.path("key")], input: folder.path("sealed"), output: folder.path("opened"))
    #expect(status == 0)
    #expect(try readFile(folder.path("opened")) == plain)
  }

  @Test("what the program seals is opened here", arguments: [0, 42, 65_536, 200_000])
  func programSeals(count: Int) throws {
    let age = try #require(Programs.find("age"))
    let folder = try TemporaryFolder()
    let identity = try newIdentity()
    let plain = randomBytes(count)
    try writeFile(folder.path("plain"), plain)
    let status = try Programs.run(
      age, ["-r", identity.publicIdentity.ageRecipient], input: folder.path("plain"), output: folder.path("sealed"))
    #expect(status == 0)
    let opened = open(try readFile(folder.path("sealed")), with: [identity.ageIdentity])
    #expect(opened.error == nil)
    #expect(opened.plain == plain)
  }
}
