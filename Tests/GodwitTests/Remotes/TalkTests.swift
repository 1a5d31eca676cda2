import Foundation
import GodwitBase
import GodwitFiles
import GodwitStorage
import Testing

@testable import Godwit
@testable import GodwitRemotes

/// Specs/remotes.md, "Talks", without ssh.
@Suite("Two replicas that talk")
struct TalkTests {
  /// How many transactions the client has sent.
  private func talk(_ client: Replica, with host: Replica) async throws -> Int? {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let streams = ends.map { SocketStream($0, name: "here", meter: TransferMeter()) }
    let stream = TalkStream(source: streams[0], sink: streams[0])
    let talk = RemoteTalk(client, over: stream, by: try await client.remotesFolder())
    async let served = host.serve(source: streams[1], sink: streams[1])
    #expect(try await BlockingThread.run { try stream.findMagic() } == nil)
    try await talk.speakAsClient(isRejoining: false)
    _ = try await served
    return talk.published?.transactions
  }

  @Test("what failed over there is said here, also while this side sends, and to its end", arguments: [0, 3])
  func failsMeanwhile(chunks: Int) async throws {
    let remote = try await RemoteGroup(2)
    // What does not fit into the socket's buffer, and what does.
    try await remote[0].documents("bytes").set(
      "all", json: "{\"text\":\"\(String((0..<(chunks * 1_000_000)).map { _ in "abcdefgh".randomElement() ?? "a" }))\"}"
    )
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let here = SocketStream(ends[0], name: "there", meter: TransferMeter())
    let talk = RemoteTalk(
      remote[0], over: TalkStream(source: here, sink: here), by: try await remote[0].remotesFolder())
    let (group, other) = (remote[0].group, remote[1].identity.replica)
    let host = Thread { [end = ends[1]] in
      let there = SocketStream(end, name: "here", meter: TransferMeter())
      let stream = TalkStream(source: there, sink: there)
      var hello = ByteWriter()
      hello.raw(group.tag(of: "godwit talk v1"))
      other.value.write(to: &hello)
      hello.byte(0)
      var failure = ByteWriter()
      for text in ["diskFull", "the disk is full", "free some space"] { failure.lengthPrefixed(Array(text.utf8)) }
      _ = try? stream.read()
      try? stream.write(.hello(hello.bytes))
      // The client's acknowledgement, to its end; then nothing for the client.
      while let message = try? stream.read(), message != .end {}
      try? stream.write(.nothing)
      _ = try? stream.read()
      try? stream.write(.failure(failure.bytes))
    }
    host.start()
    let failure = await error { try await talk.speakAsClient(isRejoining: false) }
    #expect(failure?.code == .refused && failure?.message.contains("the disk is full") == true, "\(failure as Any)")
  }

  /// Serves at a socket, which answers when this returns.
  private func serve(_ host: Replica, at path: String) async -> Task<Void, any Error> {
    let (ready, told) = AsyncStream.makeStream(of: Void.self)
    let serving = Task {
      defer { told.finish() }
      try await host.serve(atSocket: path) {
        told.yield()
      } failed: { _ in
      }
    }
    for await _ in ready { break }
    return serving
  }

  @Test("at a socket nobody waits for who says nothing, and the end does not either")
  func atASocket() async throws {
    let remote = try await RemoteGroup(2)
    let path = "\(remote.group.folder.file("talk"))"
    let serving = await serve(remote[1], at: path)
    let silent = try SocketPath(path).connect().get()
    defer { close(silent) }
    try await remote.insert("a", 1)
    _ = try await remote[0].remotes.add("host", at: "unix://\(path)")
    _ = try await remote[0].sync(with: ["host"])
    #expect(try await remote.ids(0) == ["a"])
    serving.cancel()
    await #expect(throws: CancellationError.self) { try await serving.value }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("at a socket all places are free again once those who have them have said nothing for long")
  func manyAtASocket() async throws {
    var tuning = Replica.Tuning()
    tuning.introductionTime = .seconds(10)
    let remote = try await RemoteGroup(2, tuning)
    let path = remote.group.folder.file("talk")
    let serving = await serve(remote[1], at: path)
    let silent = try (0..<16).map { _ in try SocketPath(path).connect().get() }
    defer { for descriptor in silent { close(descriptor) } }
    try await remote.insert("a", 1)
    _ = try await remote[0].remotes.add("host", at: "unix://\(path)")
    let report = try await remote[0].sync(with: ["host"]).remotes.first
    #expect(report?.error == nil, "\(String(describing: report?.error))")
    #expect(try await remote.ids(0) == ["a"])
    serving.cancel()
    await #expect(throws: CancellationError.self) { try await serving.value }
  }

  @Test("give up where nobody takes connections")
  func fullBacklog() throws {
    let folder = try TemporaryFolder()
    let place = try SocketPath(folder.file("full"))
    let listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listening) }
    let isListening = withUnsafePointer(to: place.address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listening, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(listening, 0) == 0
      }
    }
    try #require(isListening)
    var waiting: [Int32] = []
    defer { for descriptor in waiting { close(descriptor) } }
    var failure: POSIXError?
    for _ in 0..<10 {
      switch place.connect(within: 1) {
      case .success(let descriptor): waiting.append(descriptor)
      case .failure(let error): failure = error
      }
      if failure != nil { break }
    }
    #expect(failure?.code == .EAGAIN)
  }

  @Test("give up who says nothing, and who takes nothing")
  func silent() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let (reading, writing) = (FileDescriptor(ends[0], path: "pipe"), FileDescriptor(ends[1], path: "pipe"))
    let reader = PatientDescriptor(reading, silence: .milliseconds(50))
    let writer = PatientDescriptor(writing, silence: .milliseconds(50))
    #expect(throws: GodwitError.self) { try reader.readExactly(1) }
    try writer.write(Array(repeating: 7, count: 10_000))
    #expect(try reader.readExactly(10_000).allSatisfy { $0 == 7 })
    let error = #expect(throws: GodwitError.self) { try writer.write(Array(repeating: 7, count: 1 << 20)) }
    #expect(error?.code == .unreachable)
  }

  @Test("send what the one that speaks lacks, whatever a copy of it that may live does")
  func copy() async throws {
    var remote = try await RemoteGroup(2)
    try await remote.insert("a", 1)
    try await remote.syncAll(2)
    try await remote.setAside(1, as: "copy")
    try await remote.insert("b", 1)
    try await remote.syncAll(2)
    try await remote.restore(1, from: "copy")
    try await remote.syncAll(2)
    let lives = try await remote[0].members.incarnations().filter { !$0.isOwn && !$0.hasEnded }
    #expect(lives.count == 2)
    #expect(try await remote[0].status().copied == [remote[1].identity.replica])
    try await remote.insert("c", 0)
    #expect(try await talk(remote[0], with: remote[1]) == 1)
    #expect(try await talk(remote[0], with: remote[1]) == 0)
    #expect(try await remote.ids(1) == ["a", "b", "c"])
    // Files for all members keep it for the copy.
    let file = remote.group.folder.file("all")
    #expect(try await remote[0].export(to: .file(file)).transactions > 0)
    let former = try #require(lives.min { ($0.lastStated ?? .distantPast) < ($1.lastStated ?? .distantPast) })
    try await remote[0].members.end(former.id, of: "\(former.replica)")
    #expect(try await remote[0].status().copied.isEmpty)
  }
}
