import Foundation

/// Gives a terminal back as it was, also when the program is ended while somebody is asked there: it would be left
/// without echo.
final class TerminalRestoration {
  /// What a signal's handler needs, which may do next to nothing. There is one prompt at a time.
  nonisolated(unsafe) private static var asked: (terminal: Int32, before: termios) = (-1, termios())
  private static let signals = [SIGTERM, SIGHUP, SIGQUIT]

  private var former: [(signal: Int32, action: sigaction)] = []

  /// Notes the terminal, which is about to be changed.
  init(_ terminal: Int32, _ before: termios) {
    Self.asked = (terminal, before)
    for signal in Self.signals {
      var old = sigaction()
      sigaction(signal, nil, &old)
      let handler = old.__sigaction_handler.sa_handler.map { unsafeBitCast($0, to: Int.self) }
      // One that the caller ignores, as nohup does, stays ignored.
      guard handler != unsafeBitCast(SIG_IGN, to: Int.self) else { continue }
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { signal in
        TerminalRestoration.restore()
        Foundation.signal(signal, SIG_DFL)
        raise(signal)
      }
      sigaction(signal, &action, nil)
      former.append((signal, old))
    }
  }

  /// Restores the terminal and what signals do.
  func end() {
    Self.restore()
    Self.asked.terminal = -1
    for (signal, action) in former {
      var action = action
      sigaction(signal, &action, nil)
    }
    former = []
  }

  /// Restores the terminal, if somebody is being asked.
  static func restore() {
    guard asked.terminal >= 0 else { return }
    tcsetattr(asked.terminal, TCSAFLUSH, &asked.before)
  }
}
