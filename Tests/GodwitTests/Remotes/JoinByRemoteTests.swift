import Foundation
import GodwitBase
import GodwitKeys
import GodwitRemotes
import TestServers
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Specs/remotes.md, "Joining".
@Suite("Joining by way of a remote")
struct JoinByRemoteTests {
  private func join(
    _ remote: RemoteGroup, _ name: String, as folder: String = "newcomer",
    _ inviter: Member.Verification = .trustOnFirstUse
  ) async throws -> Replica.Joining {
    let path = remote.group.folder.file(folder)
    return try await Replica.join(at: path, remote: remote.remote, name: name, inviter: inviter)
  }

  private func names(_ remote: RemoteGroup, _ folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: "\(remote.remote)/\(folder)")) ?? []
  }

  @Test("takes a request, an answer, and the same call again")
  func joins() async throws {
    let remote = try await RemoteGroup(2)
    try await remote.insert("a", 0)
    try await remote.syncAll(2)
    guard case .requested(let identity) = try await join(remote, "carol") else { return #expect(Bool(false)) }
    guard case .requested = try await join(remote, "carol") else { return #expect(Bool(false)) }
    #expect(names(remote, "r") == ["\(identity.replica)"])
    let request = try #require(try await remote[1].remotes.requests(at: "stick").first)
    #expect(request.identity == identity && request.name == "carol")
    try await remote[1].remotes.invite(request, verification: .fingerprint(identity.fingerprint), at: "stick")
    #expect(names(remote, "r").isEmpty && names(remote, "i") == ["\(identity.replica)"])
    try await remote.sync(1)
    let inviter = Member.Verification.fingerprint(remote[1].identity.fingerprintWords)
    guard case .joined(let carol) = try await join(remote, "carol", inviter) else { return #expect(Bool(false)) }
    #expect(names(remote, "i").isEmpty)
    #expect(try await carol.remotes.list().map(\.name) == ["home"])
    _ = try await carol.sync()
    #expect(try await carol.members.list().first(where: \.isOwn)?.name == "carol")
    #expect(try await carol.maintenance.digest() == remote[0].maintenance.digest())
    #expect(await code { try await join(remote, "carol") } == .replicaExists)
    await carol.close()
  }

  @Test("believes neither side without its fingerprint")
  func unverified() async throws {
    let remote = try await RemoteGroup(1)
    guard case .requested(let identity) = try await join(remote, "carol") else { return #expect(Bool(false)) }
    let request = try #require(try await remote[0].remotes.requests(at: "stick").first)
    let other = remote[0].identity.fingerprint
    #expect(
      await code { try await remote[0].remotes.invite(request, verification: .fingerprint(other), at: "stick") }
        == .unverifiedIdentity)
    #expect(try await remote[0].members.list().count == 1 && names(remote, "i").isEmpty)
    try await remote[0].remotes.invite(request, verification: .trustOnFirstUse, at: "stick")
    #expect(await code { try await join(remote, "carol", .fingerprint(identity.fingerprint)) } == .unverifiedIdentity)
    guard case .joined(let carol) = try await join(remote, "carol") else { return #expect(Bool(false)) }
    await carol.close()
  }

  @Test("passes over what is no request, and what would be another's")
  func garbage() async throws {
    let remote = try await RemoteGroup(1)
    guard case .requested(let identity) = try await join(remote, "carol") else { return #expect(Bool(false)) }
    let folder = "\(remote.remote)/r"
    let good = try String(contentsOfFile: "\(folder)/\(identity.replica)", encoding: .utf8)
    let others = [
      good, "", "godwit request 2\n", "godwit request 1\n\(identity)\n", "godwit request 1\nx\ncarol\n",
      "godwit request 1\n\(identity)\n\u{1b}[31m\n", good + good, String(repeating: "x", count: 10_000),
    ]
    for (index, text) in others.enumerated() {
      let name = ReplicaID(Identifier128(high: 7, low: UInt64(index)))
      try text.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
    }
    #expect(try await remote[0].remotes.requests(at: "stick").map(\.id) == [identity.replica])
  }

  @Test("names what the store says", .enabled(if: RcloneStore.program != nil, "rclone is not there"))
  func namesWhatTheStoreSays() throws {
    let store = try RcloneStore()
    let proxy = try FaultProxy(to: store.server.port)
    guard case .bucket(let address) = try RemoteURL("s3://bucket/x?endpoint=http://127.0.0.1:\(proxy.port)") else {
      return #expect(Bool(false))
    }
    let carrier = try ObjectStoreCarrier(address, environment: RcloneStore.environment)
    for (status, code, hint) in [
      (403, "InvalidAccessKeyId", "AWS_ACCESS_KEY_ID"), (404, "NoSuchBucket", "the name and the endpoint"),
    ] {
      proxy.plan(.answer(status: status, body: "<Error><Code>\(code)</Code></Error>"))
      let error = #expect(throws: GodwitError.self) {
        try JoinDesk(carrier, RemotesFolder(path: "/nonexistent")).requireMarker(at: "s3://bucket/x")
      }
      #expect(error?.code == .refused && error?.hint?.contains(hint) == true, "\(error as Any)")
    }
  }

  @Test("is refused where no group has its remote, and for what cannot be a name")
  func refused() async throws {
    let remote = try await RemoteGroup(1)
    #expect(await code { try await join(remote, "a\nb") } == .invalidArgument)
    #expect(names(remote, "r").isEmpty)
    let path = remote.group.folder.file("other")
    let empty = remote.group.folder.file("empty")
    try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
    for (url, expected) in [(empty, GodwitError.Code.unreachable), ("ssh://host/x", .invalidArgument)] {
      let found = await code {
        try await Replica.join(at: path, remote: url, name: "carol", inviter: .trustOnFirstUse)
      }
      #expect(found == expected)
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("asks for a secret once in each call")
  func asksOnce() async throws {
    let remote = try await RemoteGroup(1)
    let asked = Heard()
    func join() async throws -> Replica.Joining {
      let keys = Replica.KeySource.keyring(openedBy: [
        .passphrase {
          asked.hear(1)
          return Array("correct horse".utf8)
        }
      ])
      return try await Replica.join(
        at: remote.group.folder.file("asked"), remote: remote.remote, name: "asked", inviter: .trustOnFirstUse,
        key: keys)
    }
    _ = try await join()
    #expect(asked.values.withLock { $0.count } == 1)
    let request = try #require(try await remote[0].remotes.requests(at: "stick").first)
    try await remote[0].remotes.invite(request, verification: .trustOnFirstUse, at: "stick")
    guard case .joined(let replica) = try await join() else { return #expect(Bool(false)) }
    #expect(asked.values.withLock { $0.count } == 2)
    await replica.close()
  }
}
