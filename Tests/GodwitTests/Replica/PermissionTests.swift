import Foundation
import Godwit
import Testing

@Suite("Files and folders of a replica")
struct PermissionTests {
  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require((attributes[.posixPermissions] as? NSNumber)?.intValue)
  }

  @Test("are 0700 and 0600 whatever the umask", arguments: ["000", "022", "077"])
  func umask(mask: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a/replica")
    #expect(try await KillSubject.run(["make", path], umask: mask) == 0)
    #expect(try await KillSubject.run(["make", path], umask: mask) == 0)

    #expect(try mode(path) == 0o700)
    #expect(try mode(folder.file("a")) == 0o700)
    let files = try FileManager.default.contentsOfDirectory(atPath: path)
    #expect(Set(files).isSuperset(of: ["database", "keyring", "machine.key"]))
    for file in files { #expect(try mode("\(path)/\(file)") == 0o600, "\(file)") }
  }

  @Test("have that mode while the database is open, its log included")
  func whileOpen() async throws {
    let group = try await TestGroup(1)
    try await group[0].write { try $0.insert(Note()) }
    let files = try FileManager.default.contentsOfDirectory(atPath: group[0].path)
    #expect(Set(files).isSuperset(of: ["database", "database-wal", "database-shm"]))
    for file in files { #expect(try mode("\(group[0].path)/\(file)") == 0o600, "\(file)") }
    _ = try await group[0].export(to: .file(group.folder.file("out")))
    #expect(try mode(group.folder.file("out")) == 0o600)
  }

  @Test("are all closed when the replica is, and the database is one file again")
  func closed() async throws {
    let group = try await TestGroup(1)
    try await group[0].write { try $0.insert(Note()) }
    _ = try await group[0].maintenance.digest()
    await group[0].close()
    let files = try FileManager.default.contentsOfDirectory(atPath: group[0].path)
    #expect(!files.contains("database-wal") && !files.contains("database-shm"))
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    let open = descriptors.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    #expect(!open.contains { $0.hasPrefix(group[0].path + "/") })
  }

  @Test(
    "that others can reach are refused, with the command that mends it",
    arguments: ["", "/database", "/keyring", "/machine.key"])
  func loose(name: String) async throws {
    let group = try await TestGroup(1)
    await group[0].close()
    let path = group[0].path + name
    chmod(path, name.isEmpty ? 0o755 : 0o644)
    let error = await failure { try await TestGroup.open(group[0].path) }
    #expect(error?.code == .unsafeFile)
    #expect(error?.hint == "run: chmod \(name.isEmpty ? 700 : 600) \(path)")
    #expect(try mode(path) == (name.isEmpty ? 0o755 : 0o644))
  }

  @Test("are not reached through a link", arguments: ["", "/database", "/keyring", "/machine.key"])
  func symbolicLink(name: String) async throws {
    let group = try await TestGroup(1)
    await group[0].close()
    let path = group[0].path + name
    let moved = group.folder.file("moved")
    try FileManager.default.moveItem(atPath: path, toPath: moved)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: moved)
    let error = await failure { try await TestGroup.open(group[0].path) }
    #expect(error?.code == .unsafeFile)
    #expect(error?.hint != nil)
  }

  @Test("have one name only", arguments: ["/database", "/keyring", "/machine.key"])
  func hardLink(name: String) async throws {
    let group = try await TestGroup(1)
    await group[0].close()
    try FileManager.default.linkItem(atPath: group[0].path + name, toPath: group.folder.file("second"))
    #expect(await code { try await TestGroup.open(group[0].path) } == .unsafeFile)
  }

  @Test(
    "belong to the user who opens them, and so does their folder",
    .enabled(if: geteuid() == 0, "only root can give a file away"),
    arguments: ["/database", "/keyring", "/machine.key", ""])
  func owner(name: String) async throws {
    let group = try await TestGroup(1)
    await group[0].close()
    let path = group[0].path + name
    try #require(chown(path, 12_345, 12_345) == 0)
    let error = await failure { try await TestGroup.open(group[0].path) }
    #expect(error?.code == .unsafeFile && error?.message.contains(path) == true, "\(String(describing: error))")
    try #require(chown(path, 0, 0) == 0)
    let again = try await TestGroup.open(group[0].path)
    await again.close()
  }
}

/// The error that the body throws, or nil.
func failure(_ body: () async throws -> some Any) async -> GodwitError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? GodwitError
  }
}
