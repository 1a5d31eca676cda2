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
