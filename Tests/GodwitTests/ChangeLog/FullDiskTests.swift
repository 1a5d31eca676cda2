import Foundation
import Godwit
import Testing

@Suite("A full disk", .enabled(if: SmallDisk.canMount, "a small file system cannot be mounted here"))
struct FullDiskTests {
  @Test("fails a write with its own error, changes nothing, and the next one succeeds")
  func write() async throws {
    let disk = try SmallDisk()
    let replica = try await TestGroup.open("\(disk.folder.path)/replica")
    try await replica.write { try $0.insert(Note(title: "before")) }
    let digest = try await replica.maintenance.digest()
    try disk.fill()

    let error = await failure {
      try await replica.write { transaction in
        for _ in 0..<4_000 { try transaction.insert(Note(title: String(repeating: "x", count: 300))) }
      }
    }
    #expect(error?.code == .diskFull, "\(String(describing: error))")
    #expect(error?.hint != nil)
    #expect(try await replica.maintenance.digest() == digest)

    unlink(disk.filler)
    try await replica.write { try $0.insert(Note(title: "after")) }
    #expect(try await replica.history.log().map(\.sequence) == [2, 1])
    #expect(try await replica.maintenance.verify().problems == [])
    await replica.close()
  }

  @Test("fails an export and leaves no part of a file")
  func export() async throws {
    let disk = try SmallDisk()
    let group = try await TestGroup(2)
    try await group[0].write { try $0.insert(Note()) }
    try disk.fill()
    let path = "\(disk.folder.path)/out"
    #expect(await code { try await group[0].export(to: .file(path)) } == .diskFull)
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.folder.path) == ["filler"])
  }

  @Test("fails an opening with its own error")
  func opening() async throws {
    let disk = try SmallDisk()
    try disk.fill()
    #expect(await code { try await TestGroup.open("\(disk.folder.path)/replica") } == .diskFull)
    unlink(disk.filler)
    let replica = try await TestGroup.open("\(disk.folder.path)/replica")
    #expect(try await replica.count(Note.all) == 0)
    await replica.close()
  }
}
