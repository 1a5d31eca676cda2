import GodwitBase
import GodwitKeys

/// Whose signature a reader looks for.
package enum SyncFileSigner: Sendable {
  /// The file must have this one's, by the key that is in force.
  case required(IdentityHistory)
  /// ``SyncFileReader/signature`` says whether it has; nil when nobody known is said to have made the file.
  case reported(IdentityHistory?)
}

extension SyncFileSigner {
  /// Throws `invalidSignature`, or `unknownSender` for a key that was replaced, when the signer is required.
  func judge(_ signature: [UInt8], of message: [UInt8]) throws -> SyncFileSignature {
    switch self {
    case .required(let history):
      let judged = Self.judge(signature, of: message, by: history)
      guard judged != .replacedKey else { throw SyncFileReader.replacedKey() }
      guard judged == .verified else { throw SyncFileReader.invalidSignature() }
      return judged
    case .reported(nil): return .unknownSigner
    case .reported(let history?): return Self.judge(signature, of: message, by: history)
    }
  }

  private static func judge(_ bytes: [UInt8], of message: [UInt8], by history: IdentityHistory) -> SyncFileSignature {
    if history.current.verifies(signature: bytes, of: message) { return .verified }
    let isFormer = history.all.dropLast().contains { $0.verifies(signature: bytes, of: message) }
    return isFormer ? .replacedKey : .invalid
  }
}

/// What became of a signature that is only reported.
package enum SyncFileSignature: Sendable {
  case verified
  case invalid
  /// It is by a key that its maker has replaced since.
  case replacedKey
  /// Nobody known is said to have made the file.
  case unknownSigner
}

/// How large the parts of a container are, as far as it has been read.
package struct SyncFileSizes: Equatable, Sendable {
  /// The whole container, without age's own overhead.
  package var container = 0
  package var header = 0
  /// Frames, or blocks of a state file.
  package var frames = 0
  package var packed = 0
  package var unpacked = 0
}
