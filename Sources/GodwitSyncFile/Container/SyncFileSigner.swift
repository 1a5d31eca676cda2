import GodwitKeys

/// Whose signature a reader looks for.
package enum SyncFileSigner: Sendable {
  /// The file must have this one's, by the key that is in force.
  case required(IdentityHistory)
  /// Whether it has is told by ``SyncFileReader/signature``; nil when nobody known is said to have made the file.
  case reported(IdentityHistory?)
}

/// What became of a signature that is only reported.
package enum SyncFileSignature: Sendable {
  /// The trailer has not been read yet.
  case unread
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
  /// Frames, or blocks of a snapshot.
  package var frames = 0
  package var packed = 0
  package var unpacked = 0
}
