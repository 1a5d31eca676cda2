import Foundation

/// Shows a list that is longer than the screen in the user's pager, as git does.
struct Pager {
  private let command: String

  /// Nil where the standard output is no terminal, or no pager is wanted or there.
  init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
    guard StandardStream.output.isTerminal else { return nil }
    let asked = environment["GODWIT_PAGER"] ?? environment["PAGER"] ?? Self.usual(environment)
    guard let asked, !asked.isEmpty, asked != "cat" else { return nil }
    // It quits where all fits on the screen after all, shows colours, and leaves what it has shown.
    command = "LESS=${LESS-FRX}; export LESS; \(asked)"
  }

  private static func usual(_ environment: [String: String]) -> String? {
    let folders = environment["PATH", default: ""].split(separator: ":")
    return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/less") } ? "less" : nil
  }

  /// Whether the terminal has too few rows for the lines. One that does not say has 24 of 80 columns.
  static func isNeeded(for lines: [String]) -> Bool {
    var size = winsize()
    let isKnown = ioctl(StandardStream.output.rawValue, UInt(TIOCGWINSZ), &size) == 0 && size.ws_row > 0
    let (rows, columns) = isKnown ? (Int(size.ws_row), max(1, Int(size.ws_col))) : (24, 80)
    var taken = 0
    return lines.contains { line in
      taken += max(1, (TextTable.displayWidth(line) + columns - 1) / columns)
      return taken >= rows
    }
  }

  /// Returns when the user has seen enough. Ctrl-C is the pager's meanwhile. False where it could not be started, and
  /// nothing was shown.
  func show(_ lines: [String]) async -> Bool {
    await Interrupts.withListener({}) {
      await withCheckedContinuation { continuation in
        // It lasts as long as somebody reads.
        Thread.detachNewThread { continuation.resume(returning: run(lines)) }
      }
    }
  }

  /// By popen(3), which leaves the pager in this program's group of processes: another one may not read the terminal.
  private func run(_ lines: [String]) -> Bool {
    var none = sigset_t()
    sigemptyset(&none)
    // What starts here has this thread's.
    pthread_sigmask(SIG_SETMASK, &none, nil)
    guard let pager = popen(command, "w") else { return false }
    // Its end shows by a write that fails, so this process must not be ended by that.
    let former = signal(SIGPIPE, SIG_IGN)
    defer { signal(SIGPIPE, former) }
    for line in lines where fputs("\(line)\n", pager) < 0 { break }
    // What the shell says of a command that it cannot run or find.
    let status = pclose(pager)
    return status >= 0 && ![126, 127].contains(status >> 8 & 0xFF)
  }
}
