import Foundation
import Godwit
import Testing

/// A replica that a program opens by the library, and its user by the command line.
@Suite struct SharedPlaceTests {
  @Test("the library finds what the program has made in a working folder, and makes nothing beside it")
  func madeByProgram() async throws {
    let desk = try Machine("shared")
    try #require(try desk.godwit("init").status == 0)
    try #require(try desk.godwit("put", "people", "--as", "ada", input: Data(#"{"n":1}"#.utf8)).status == 0)
    let replica = try await Replica.open(at: desk.folder, configuration: .init(key: desk.keys))
    #expect(replica.path == desk.replica)
    #expect(try await replica.documents("people").json("ada") == #"{"n":1}"#)
    await replica.close()
    #expect(!FileManager.default.fileExists(atPath: desk.path("keyring")))
  }

  @Test("the program opens what the library has made, by the machine key beside it")
  func madeByLibrary() async throws {
    let desk = try Machine("shared")
    let replica = try await Replica.open(at: desk.path("app"))
    try await replica.documents("people").set("ada", json: #"{"n":1}"#)
    await replica.close()
    // The user has replicas of the program's, too.
    try #require(try desk.godwit("init").status == 0)
    #expect(try desk.godwit("-C", "app", "get", "people", "ada").text == "{\"n\":1}\n")
    #expect(try desk.godwit("-C", "app", "status").status == 0)
  }
}
