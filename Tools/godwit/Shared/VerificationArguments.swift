import ArgumentParser
import Godwit
import ToolSupport

/// How a command makes sure that an identity is whose it is said to be (Specs/membership.md, "Adding").
struct VerificationArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      The fingerprint that the other side gives, in digits or words: what godwit identity says there. \
      (default: compared at the terminal)
      """,
      valueName: "fingerprint"))
  var fingerprint: String?

  @Flag(help: "Believe whoever it is, without comparing fingerprints.")
  var trustFirstUse = false

  func validate() throws {
    guard fingerprint == nil || !trustFirstUse else {
      throw ValidationError("--fingerprint and --trust-first-use exclude each other")
    }
    guard fingerprint?.isEmpty != true else { throw ValidationError("--fingerprint is empty") }
  }

  /// - Parameter whose: Who is to be compared, as a person reads it.
  func verification(of whose: String) -> Member.Verification {
    if let fingerprint { return .fingerprint(fingerprint) }
    return trustFirstUse ? .trustOnFirstUse : .comparison { try Self.compare($0, of: whose) }
  }

  private static func compare(_ identity: PublicIdentity, of whose: String) throws -> Bool {
    let unavailable = GodwitError(
      .unverifiedIdentity, "nobody has compared the fingerprint of \(whose)",
      hint: "ask for what godwit identity says there, by telephone or ssh, and give it with --fingerprint")
    guard StandardStream.error.isTerminal else { throw unavailable }
    let prompt = """
      The fingerprint of \(Format.printable(whose)) is
        \(identity.fingerprint)
        \(identity.fingerprintWords)
      Ask what godwit identity says there. Type yes when it is the same, or what they say: 
      """
    let typed: [UInt8]
    do {
      typed = try TerminalPrompt.ask(prompt, isShown: true, unavailable: unavailable)
    } catch let error as GodwitError where error.code == .noKeyFits {
      throw unavailable  // nothing was typed
    }
    let answer = String(decoding: typed, as: UTF8.self)
    return answer.lowercased() == "yes" || identity.hasFingerprint(answer)
  }
}

extension PublicIdentity {
  /// `fingerprint cd78-…, in words lusab-…`.
  var fingerprintLine: String { "fingerprint \(fingerprint), in words \(fingerprintWords)" }
}
