import Foundation
import Godwit

/// What a command line offers to open the keyring with, besides the machine key file: places, never secrets themselves.
public struct OfferedSecrets: Hashable, Sendable {
  /// A file with a passphrase; `-` is the standard input.
  public var passphraseFile: String?
  /// A file with a recovery code; `-` is the standard input.
  public var recoveryCodeFile: String?
  /// A credential of systemd.
  public var credential: String?
  /// A program that prints a secret, with its arguments.
  public var command: [String] = []

  /// Nothing.
  public init() {}

  /// What is named, then the machine key, then what a person can be asked for at the terminal.
  func secrets(machineKey: String) -> [SlotSecret] {
    var secrets: [SlotSecret] = []
    if let credential { secrets.append(.credential(named: credential)) }
    if !command.isEmpty { secrets.append(.command(command)) }
    if let passphraseFile { secrets.append(.passphrase(file: Self.path(passphraseFile))) }
    if let recoveryCodeFile { secrets.append(.recoveryCode(file: Self.path(recoveryCodeFile))) }
    secrets.append(.machineKey(at: machineKey))
    if passphraseFile == nil { secrets.append(.passphrase { try TerminalPrompt.ask("Passphrase: ") }) }
    if recoveryCodeFile == nil { secrets.append(.recoveryCode { try TerminalPrompt.ask("Recovery code: ") }) }
    return secrets
  }

  /// The path of a file argument, of which `-` is the standard input.
  public static func path(_ argument: String) -> String { argument == "-" ? "/dev/stdin" : argument }

  /// The words of a command: a JSON array of strings, or else what spaces separate. No shell reads it.
  ///
  /// - Throws: `invalidArgument` when it is neither.
  public static func command(_ text: String) throws -> [String] {
    if text.hasPrefix("[") {
      guard let words = try? JSONDecoder().decode([String].self, from: Data(text.utf8)), !words.isEmpty else {
        throw GodwitError(.invalidArgument, "the key command is not a JSON array of strings")
      }
      return words
    }
    let words = text.split(separator: " ").map(String.init)
    guard !words.isEmpty else { throw GodwitError(.invalidArgument, "the key command is empty") }
    return words
  }
}
