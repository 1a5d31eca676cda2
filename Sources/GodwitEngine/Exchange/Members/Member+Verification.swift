import GodwitBase
import GodwitKeys

extension Member {
  /// How it is made sure that an identity is whose it is said to be (Specs/membership.md, "Adding").
  public enum Verification: Sendable {
    /// It must have this fingerprint, in digits or in words, which its owner gave over a way that nobody else could
    /// use: aloud, or through a connection that is authenticated.
    case fingerprint(String)
    /// A person compares its fingerprint now, and the closure returns whether it is the same. It may block.
    case comparison(@Sendable (PublicIdentity) throws -> Bool)
    /// It is believed, whoever it comes from. Whoever can exchange the file on its way can put themselves in the
    /// middle.
    case trustOnFirstUse

    /// Throws `unverifiedIdentity`.
    package func check(_ identity: PublicIdentity, of whom: String) throws {
      switch self {
      case .trustOnFirstUse: return
      case .fingerprint(let expected) where identity.hasFingerprint(expected): return
      case .comparison(let isSame): if try isSame(identity) { return }
      case .fingerprint: break
      }
      throw GodwitError(
        .unverifiedIdentity, "\(whom) has the fingerprint \(identity.fingerprint), not the one that was given",
        hint: "nothing was changed; compare it again, and if it differs somebody has exchanged the file on its way")
    }
  }
}
