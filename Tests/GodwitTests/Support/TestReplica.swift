import Foundation
import Godwit
import Synchronization
import TestFolders

/// A folder that goes away with the test.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "godwit-test-" + UUID().uuidString
    // Other tests change the process's umask meanwhile.
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { TestFolder.remove(path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }
}

/// A clock that stands still until it is moved.
final class TestClock: Sendable {
  private let now: Mutex<Int64>
  init(_ start: Int64 = 1_700_000_000_000) { now = Mutex(start) }
  func advance(_ milliseconds: Int64) { now.withLock { $0 += milliseconds } }
  var wallClock: WallClock { WallClock { self.now.withLock { $0 } } }
}

/// Replicas of one group, each in a folder of its own, and the files between them.
struct TestGroup {
  let folder: TemporaryFolder
  let clock: TestClock
  private(set) var replicas: [Replica] = []

  init(_ count: Int, postQuantum: Bool = false) async throws {
    folder = try TemporaryFolder()
    clock = TestClock()
    let names = (0..<count).map { "replica-\($0)" }
    if postQuantum { _ = try await Replica.identity(at: folder.file(names[0]), postQuantum: true) }
    let first = try await Self.open(folder.file(names[0]), clock)
    replicas = [first]
    for _ in names.dropFirst() { try await add(postQuantum: postQuantum) }
  }

  /// Has the first invite one more.
  mutating func add(postQuantum: Bool = false) async throws {
    let name = "replica-\(replicas.count)"
    let path = folder.file(name)
    let identity = try await Replica.identity(at: path, postQuantum: postQuantum)
    let invitation = folder.file("\(name).invitation")
    try await replicas[0].members.invite(identity, name: name, verification: .trustOnFirstUse, to: .file(invitation))
    await (try Replica.join(at: path, invitation: .file(invitation), inviter: .trustOnFirstUse)).close()
    replicas.append(try await Self.open(path, clock))
  }

  /// Lets everybody know of everybody: the first has added all others.
  func introduce() async throws {
    for receiver in replicas.indices.dropFirst() { try await send(from: 0, to: receiver) }
  }

  static func open(_ path: String, _ clock: TestClock = TestClock()) async throws -> Replica {
    try await Replica.open(
      at: path, models: [Folder.self, Note.self, Draft.self],
      configuration: .init(key: .keyring(), logger: .init(label: "test")), wallClock: clock.wallClock)
  }

  subscript(index: Int) -> Replica { replicas[index] }

  /// Carries everything the sender has for all members to the receiver.
  @discardableResult
  func send(from sender: Int, to receiver: Int, all: Bool = false) async throws -> MergeReport {
    let path = folder.file("\(UUID().uuidString).godwit-sync")
    _ = try await replicas[sender].export(to: .file(path), includesAll: all)
    return try await replicas[receiver].import(from: .file(path))
  }

  /// Carries files in both directions until nothing is left to send.
  func settle() async throws {
    for _ in 0..<2 {
      for sender in replicas.indices {
        for receiver in replicas.indices where receiver != sender { try await send(from: sender, to: receiver) }
      }
    }
  }

  func digests() async throws -> Set<String> {
    var digests: Set<String> = []
    for replica in replicas { digests.insert(try await replica.maintenance.digest()) }
    return digests
  }
}

/// The code of the error that the body throws, or nil.
func code(_ body: () async throws -> some Any) async -> GodwitError.Code? {
  do {
    _ = try await body()
    return nil
  } catch {
    return (error as? GodwitError)?.code
  }
}

/// The error that the body throws, or nil.
func error(_ body: () async throws -> some Any) async -> GodwitError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? GodwitError
  }
}
