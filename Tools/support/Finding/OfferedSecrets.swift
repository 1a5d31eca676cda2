import Foundation
import Godwit

/// What a command line offers to open the keyring with, besides the machine key file: places, never secrets themselves.
public struct OfferedSecrets: Hashable, Sendable {
  /// Files with a passphrase each; `-` is the standard input.
  public var passphraseFiles: [String] = []
  /// Files with a recovery code each; `-` is the standard input.
  public var recoveryCodeFiles: [String] = []
  /// Credentials of systemd.
  public var credentials: [String] = []
  /// Programs that print a secret, each with its arguments.
  public var commands: [[String]] = []

  /// Nothing.
  public init() {}

  /// What is named, then the machine key, then what a person can be asked for at the terminal.
  func secrets(machineKey: String) -> [SlotSecret] {
    var secrets: [SlotSecret] = []
    secrets += credentials.map { .credential(named: $0) }
    secrets += commands.map { .command($0) }
    secrets += passphraseFiles.map { .passphrase(file: Self.path($0)) }
    secrets += recoveryCodeFiles.map { .recoveryCode(file: Self.path($0)) }
    secrets.append(.machineKey(at: machineKey))
    secrets += Self.prompts("passphrase", besides: passphraseFiles.count) { .passphrase($0) }
    secrets += Self.prompts("recovery code", besides: recoveryCodeFiles.count) { .recoveryCode($0) }
    return secrets
  }

  /// What a person is asked for besides the files: one secret, and a second one for slots that need two of the kind.
  private static func prompts(
    _ name: String, besides count: Int, _ secret: (@escaping @Sendable () throws -> [UInt8]) -> SlotSecret
  ) -> [SlotSecret] {
    let first = secret { try TerminalPrompt.ask("\(name.prefix(1).uppercased())\(name.dropFirst()): ") }
    let second = secret { try TerminalPrompt.ask("Second \(name): ") }.asSecond
    return Array([first, second].dropFirst(count))
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
