import Foundation
import GodwitBase
import GodwitFiles
import Testing

@Suite("A pending file")
struct PendingFileTests {
  /// Its folder goes away with it.
  private let database: TestDatabase
  private var folder: String { database.folder }
  private var path: String { "\(folder)/place" }

  init() throws { database = try TestDatabase() }

  private func kind(of path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : 0
  }

  private func expectRefused(_ place: String) throws {
    let error = #expect(throws: GodwitError.self) { try PendingFile(replacing: place) }
    #expect(error?.code == .unsafeFile)
    #expect(error?.hint?.contains("- for the standard output") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).allSatisfy { !$0.hasSuffix(".tmp") })
  }

  @Test("replaces a plain file, and takes a place that is free")
  func plain() throws {
    for content in ["one", "two"] {
      let file = try PendingFile(replacing: path)
      try file.write(Array(content.utf8))
      try file.commit()
      #expect(try String(contentsOfFile: path, encoding: .utf8) == content)
    }
  }

  @Test("does not take the place of a pipe, whoever waits at it")
  func pipe() throws {
    try #require(mkfifo(path, 0o600) == 0)
    try expectRefused(path)
    #expect(kind(of: path) == S_IFIFO)
  }

  @Test("does not take the place of a link or a folder, nor change what a link leads to")
  func links() throws {
    let target = "\(folder)/target"
    try Data("kept".utf8).write(to: URL(fileURLWithPath: target))
    try #require(symlink(target, path) == 0)
    let dangling = "\(folder)/dangling"
    try #require(symlink("\(folder)/nothing", dangling) == 0)
    let inner = "\(folder)/inner"
    try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
    for place in [path, dangling, inner] { try expectRefused(place) }
    #expect(kind(of: path) == S_IFLNK && kind(of: dangling) == S_IFLNK && kind(of: inner) == S_IFDIR)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "kept")
  }

  @Test("looks again before it takes its place")
  func appearing() throws {
    let file = try PendingFile(replacing: path)
    try file.write([1, 2, 3])
    try #require(mkfifo(path, 0o600) == 0)
    let error = #expect(throws: GodwitError.self) { try file.commit() }
    #expect(error?.code == .unsafeFile)
    #expect(kind(of: path) == S_IFIFO)
  }
}

@Suite("What a killed writer leaves")
struct LeftoverTests {
  /// Its folder goes away with it.
  private let database: TestDatabase
  private var folder: String { database.folder }
  private var path: String { "\(folder)/notes" }
  private var names: Set<String> {
    get throws { try Set(FileManager.default.contentsOfDirectory(atPath: folder)).subtracting(["data"]) }
  }

  init() throws { database = try TestDatabase() }

  private func make(_ names: [String]) throws {
    for name in names { try Data("x".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
  }

  @Test("has a name with exactly thirteen digits, and so has every file that is being written")
  func form() throws {
    for _ in 0..<200 {
      let file = try PendingFile(replacing: path)
      let random = file.temporaryPath.dropFirst(path.count + 1).dropLast(4)
      #expect(file.temporaryPath == "\(path).\(random).tmp" && random.count == 13)
      #expect(UInt64(random, radix: 36) != nil)
    }
    try make(["notes.0000000000001.tmp", "notes.3w5e11264sgsf.tmp", "notes.3w5e11264sgsf.tmp-journal"])
    try Leftovers.remove(of: path)
    #expect(try names == [])
  }

  @Test("goes, and what only looks like it stays: words, other lengths, other kinds of file")
  func others() throws {
    let kept: Set = [
      "notes.old.tmp", "notes.tmp", "notes.3W5E11264SGSF.tmp", "notes.w5e11264sgsf.tmp", "notes.03w5e11264sgsf.tmp",
      "notes.3w5e11264sgsf.bak", "other.3w5e11264sgsf.tmp", "notes.001.3w5e11264sgsf.tmp", "notes.001.old.tmp",
      "notes.001.0123456789abcdef0123456789abcdef.tmp",
    ]
    try make(Array(kept))
    try #require(mkfifo("\(folder)/notes.1111111111111.tmp", 0o600) == 0)
    try #require(symlink("\(folder)/notes.old.tmp", "\(folder)/notes.2222222222222.tmp") == 0)
    let odd: Set = ["notes.1111111111111.tmp", "notes.2222222222222.tmp"]
    try Leftovers.remove(of: path)
    #expect(try names == kept.union(odd))
  }

  @Test("stays where it is another user's", .enabled(if: geteuid() == 0, "only root can give a file away"))
  func otherUsers() throws {
    try make(["notes.3w5e11264sgsf.tmp"])
    try #require(chown("\(folder)/notes.3w5e11264sgsf.tmp", 12_345, 12_345) == 0)
    try Leftovers.remove(of: path)
    #expect(try names == ["notes.3w5e11264sgsf.tmp"])
  }
}
