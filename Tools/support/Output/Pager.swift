import Foundation

/// Shows a list that is longer than the screen in the user's pager, as git does.
struct Pager {
  private let command: String
  private let environment: [String: String]

  /// Nil where the standard output is no terminal, or no pager is wanted or there.
  init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
    guard StandardStream.output.isTerminal else { return nil }
    let asked = environment["GODWIT_PAGER"] ?? environment["PAGER"] ?? Self.usual(environment)
    guard let asked, !asked.isEmpty, asked != "cat" else { return nil }
    command = asked
    // It quits where all fits on the screen after all, shows colours, and leaves what it has shown.
    self.environment = ["LESS": "FRX"].merging(environment) { $1 }
  }

  private static func usual(_ environment: [String: String]) -> String? {
    let folders = environment["PATH", default: ""].split(separator: ":")
    return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/less") } ? "less" : nil
  }

  /// How many lines the terminal shows; 24 where it does not say.
  static var rows: Int {
    var size = winsize()
    guard ioctl(StandardStream.output.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return 24 }
    return Int(size.ws_row)
  }

  /// Returns when the user has seen enough. Ctrl-C is the pager's meanwhile. False where it could not be started, and
  /// nothing was shown.
  func show(_ lines: [String]) async -> Bool {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    process.environment = environment
    process.standardInput = pipe
    return await Interrupts.withListener({}) {
      await withCheckedContinuation { continuation in
        // It lasts as long as somebody reads.
        Thread.detachNewThread { continuation.resume(returning: Self.run(process, pipe, lines)) }
      }
    }
  }

  private static func run(_ process: Process, _ pipe: Pipe, _ lines: [String]) -> Bool {
    do { try process.run() } catch { return false }
    // Its end shows by a write that fails, so this process must not be a reader, too, or be ended by that.
    try? pipe.fileHandleForReading.close()
    let former = signal(SIGPIPE, SIG_IGN)
    defer { signal(SIGPIPE, former) }
    for line in lines {
      guard (try? pipe.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))) != nil else { break }
    }
    try? pipe.fileHandleForWriting.close()
    process.waitUntilExit()
    // What the shell says of a command that it cannot run or find.
    return ![126, 127].contains(process.terminationStatus)
  }
}
