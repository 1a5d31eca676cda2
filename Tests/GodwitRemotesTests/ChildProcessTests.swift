import Foundation
import GodwitBase
import GodwitFiles
import TestServers
import Testing

@testable import GodwitRemotes

@Suite("A program that is started")
struct ChildProcessTests {
  private func output(of script: String) throws -> String {
    let output = Pipe()
    let writing = output.fileHandleForWriting
    let process = try ChildProcess(["/bin/sh", "-c", script], descriptors: [(writing.fileDescriptor, 1)])
    try writing.close()
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(process.wait() == 0)
    return said
  }

  @Test("has no open file of this process's")
  func closed() throws {
    // As a socket at which somebody else's code listens.
    let inherited = fcntl(0, F_DUPFD, 100)
    defer { close(inherited) }
    try #require(inherited >= 100 && fcntl(inherited, F_GETFD) == 0)
    // The shell has the folder open while it reads it.
    let open = try output(of: "for file in /proc/$$/fd/*; do echo ${file##*/}; done").split(separator: "\n")
    #expect(open.contains("1") && open.allSatisfy { Int($0).map { $0 < 4 } ?? false }, "\(open)")
  }

  @Test("is ended by a broken pipe also where this process ignores that signal, as servers do")
  func brokenPipe() throws {
    // Of all of this process, where nothing waits for the signal.
    signal(SIGPIPE, SIG_IGN)
    let process = try ChildProcess(["/bin/sh", "-c", "kill -PIPE $$; exit 0"], descriptors: [])
    #expect(process.wait() == 128 + SIGPIPE)
  }

  @Test("may write as many errors as it likes, of which the last are kept")
  func errors() throws {
    var process: ChildProcess?
    let errors = try ErrorOutput { descriptor in
      process = try ChildProcess(
        ["/bin/sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' x >&2; echo; echo last >&2; exit 3"],
        descriptors: [(descriptor, 2)])
    }
    #expect(process?.end(after: .seconds(60)) == 3)
    let said = errors.finish()
    #expect(said.hasSuffix("xlast\n") && said.utf8.count == 1 << 16)
    #expect(errors.finish() == said)
  }

  @Test("is not waited for by who has its errors where it leaves something running")
  func leftRunning() throws {
    var process: ChildProcess?
    let errors = try ErrorOutput { descriptor in
      process = try ChildProcess(
        ["/bin/sh", "-c", "echo said >&2; sleep 20 & exit 0"], descriptors: [(descriptor, 2)])
    }
    #expect(process?.wait() == 0)
    let start = ContinuousClock.now
    #expect(errors.finish() == "said\n")
    #expect(.now - start < .seconds(10))
  }

  @Test("is not waited for where what it leaves running writes errors for ever")
  func endless() throws {
    var process: ChildProcess?
    let folder = try Workspace()
    let errors = try ErrorOutput { descriptor in
      process = try ChildProcess(
        ["/bin/sh", "-c", "yes >&2 & echo $! > '\(folder.path)/yes'; sleep 1"], descriptors: [(descriptor, 2)])
    }
    #expect(process?.wait() == 0)
    #expect(errors.finish().contains("y\ny\n"))
    let left = try String(contentsOfFile: "\(folder.path)/yes", encoding: .utf8)
    if let number = pid_t(left.trimmingCharacters(in: .whitespacesAndNewlines)) { kill(number, SIGKILL) }
  }
}
