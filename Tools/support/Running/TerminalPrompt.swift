import Foundation
import Godwit
import GodwitCrypto
import Synchronization

/// Asks for a secret at the terminal, which the standard streams need not be.
public enum TerminalPrompt {
  /// As much as a file with a secret may have.
  private static let byteCountMax = 4_096
  /// Who asks: a terminal has one keyboard.
  private static let turn = Mutex(())

  /// A secret: what is typed, without the end of the line; it is not shown.
  ///
  /// - Parameters:
  ///   - prompt: What is asked.
  ///   - unavailable: What to throw when there is no terminal.
  /// - Throws: `noKeyFits` when there is no terminal or nothing is typed, `limitExceeded` for more than 4,096 bytes,
  ///   `CancellationError` for Ctrl-C.
  public static func ask(_ prompt: String, unavailable: GodwitError? = nil) throws -> [UInt8] {
    try ask(
      prompt, isShown: false,
      unavailable: unavailable
        ?? GodwitError(.noKeyFits, "no other key is at hand, and there is no terminal to ask for one at"))
  }

  /// A new secret, which is typed twice.
  ///
  /// - Parameters:
  ///   - prompt: What is asked first.
  ///   - unavailable: What to throw when there is no terminal.
  ///   - different: What to throw when the two differ.
  /// - Throws: As ``ask(_:unavailable:)``.
  public static func askTwice(
    _ prompt: String, unavailable: GodwitError, different: GodwitError
  ) throws -> [UInt8] {
    var first = try ask(prompt, unavailable: unavailable)
    do {
      var second = try ask("Once more: ", unavailable: unavailable)
      defer { second.wipe() }
      guard second == first else { throw different }
      return first
    } catch {
      first.wipe()
      throw error
    }
  }

  /// What is typed, without the end of the line.
  ///
  /// - Parameters:
  ///   - prompt: What is asked.
  ///   - isShown: Whether what is typed is shown.
  ///   - unavailable: What to throw when there is no terminal.
  /// - Throws: `noKeyFits` when nothing is typed, `limitExceeded` for more than 4,096 bytes, `CancellationError` for
  ///   Ctrl-C.
  public static func ask(_ prompt: String, isShown: Bool, unavailable: GodwitError) throws -> [UInt8] {
    try turn.withLock { _ in try askAlone(prompt, isShown: isShown, unavailable: unavailable) }
  }

  private static func askAlone(_ prompt: String, isShown: Bool, unavailable: GodwitError) throws -> [UInt8] {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else { throw unavailable }
    defer { close(terminal) }
    var before = termios()
    tcgetattr(terminal, &before)
    var silent = before
    // Without line editing by the terminal, which would swallow Ctrl-C until the line ends or leave the echo off.
    silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
    let restoration = TerminalRestoration(terminal, before)
    tcsetattr(terminal, TCSAFLUSH, &silent)
    defer {
      restoration.end()
      write(terminal, "\n", 1)
    }
    write(terminal, prompt, prompt.utf8.count)
    return try readLine(terminal, isShown: isShown)
  }

  private static func readLine(_ terminal: Int32, isShown: Bool) throws -> [UInt8] {
    var line: [UInt8] = []
    line.reserveCapacity(byteCountMax)
    var isTooLong = false
    var byte: UInt8 = 0
    defer { byte = 0 }
    // To the line's end in any case: what is left would be somebody else's input.
    reading: while true {
      let count = read(terminal, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      switch byte {
      case 0x03:
        line.wipe()
        throw CancellationError()
      case 0x04, 0x0A, 0x0D: break reading
      case 0x08, 0x7F: eraseCharacter(&line, on: isShown ? terminal : nil)
      case 0x15:  // Ctrl-U
        while !line.isEmpty { eraseCharacter(&line, on: isShown ? terminal : nil) }
      case 0..<0x09, 0x0A..<0x20: continue reading
      case _ where line.count == byteCountMax: isTooLong = true
      default:
        line.append(byte)
        if isShown { write(terminal, &byte, 1) }
      }
    }
    guard !isTooLong else {
      line.wipe()
      throw GodwitError(
        .limitExceeded, "what was typed has more than \(byteCountMax) bytes", hint: "a secret has at most so many")
    }
    guard !line.isEmpty else { throw GodwitError(.noKeyFits, "nothing was typed") }
    return line
  }

  /// All bytes of the last character in UTF-8, and where it is shown.
  private static func eraseCharacter(_ line: inout [UInt8], on terminal: Int32?) {
    guard !line.isEmpty else { return }
    while let byte = line.popLast(), byte & 0xC0 == 0x80 {}
    if let terminal { write(terminal, "\u{8} \u{8}", 3) }
  }
}
