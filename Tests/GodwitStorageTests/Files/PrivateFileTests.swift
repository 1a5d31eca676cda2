import Foundation
import GodwitBase
import GodwitFiles
import GodwitStorage
import Synchronization
import Testing

/// Makes a thread stop.
private final class End: Sendable {
  private let state = Mutex(false)
  var hasCome: Bool { state.withLock { $0 } }
  func come() { state.withLock { $0 = true } }
}

@Suite("A private file", .timeLimit(.minutes(1)))
struct PrivateFileTests {
  /// Its folder goes away with it.
  private let database: TestDatabase
  private var path: String { "\(database.folder)/file" }

  init() throws { database = try TestDatabase() }

  @Test("that others replace while it is opened is opened whole, as it was or as it is")
  func replaced() async throws {
    let path = path
    try PrivateFile.replace(path, with: [0])
    let isOver = End()
    let replacing = Task {
      try await BlockingThread.run {
        while !isOver.hasCome {
          try PendingFile(replacing: path).writeAndCommit([UInt8](repeating: 1, count: 8))
        }
      }
    }
    let lengths = try await BlockingThread.run {
      try (0..<20_000).map { _ in try PrivateFile.read(path, limit: 8).count }
    }
    isOver.come()
    try await replacing.value
    #expect(Set(lengths).isSubset(of: [1, 8]))
  }

  @Test("with a second name is refused")
  func hardLink() throws {
    try PrivateFile.replace(path, with: [0])
    try #require(link(path, "\(path).again") == 0)
    let error = #expect(throws: GodwitError.self) { try PrivateFile.open(path) }
    #expect(error?.code == .unsafeFile && error?.message.contains("2 hard links") == true)
  }

  @Test("open to others is refused with a command that a shell takes")
  func hint() throws {
    let odd = "\(database.folder)/it's $HOME"
    try PrivateFile.replace(odd, with: [0])
    chmod(odd, 0o644)
    let error = #expect(throws: GodwitError.self) { try PrivateFile.open(odd) }
    let command = try #require(error?.hint?.dropFirst("run: ".count))
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", String(command)]
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
    _ = try PrivateFile.open(odd)
  }
}

extension PendingFile {
  fileprivate func writeAndCommit(_ bytes: [UInt8]) throws {
    try write(bytes)
    try commit(isDurable: false)
  }
}

@Suite("A word of a shell")
struct ShellWordTests {
  @Test(
    "stands as it is or in quotes",
    arguments: [
      ("/a/b-c_1.txt", "/a/b-c_1.txt"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("", "''"), ("~", "'~'"),
      ("a\nb", #"$'a\x0ab'"#), ("\u{9B}2J'\\", #"$'\xc2\x9b2J\'\\'"#),
      ("\u{202E}x", #"$'\xe2\x80\xaex'"#), ("é", "'é'"),
      ("a'\u{301}; touch x; '\u{301}", "'a'\\''\u{301}; touch x; '\\''\u{301}'"),
    ])
  func quoted(text: String, word: String) { #expect(ShellWord.quoted(text) == word) }
}
