import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys
import GodwitCore

/// The file that holds an ``Anchor``, beside the keyring.
package struct AnchorFile: Sendable {
  package let path: String

  package init(path: String) { self.path = path }

  enum Content: Equatable {
    case missing
    case anchor(Anchor)
    /// Damaged, or a copy: it says nothing of this database.
    case foreign
  }

  func read() throws -> Content {
    guard PrivateFile.exists(path) else { return .missing }
    let file = try PrivateFile.open(path)
    guard try file.size() <= Anchor.byteLimit else { return .foreign }
    let bytes = try file.readToEnd(limit: Anchor.byteLimit)
    return try Anchor(bytes, at: file.place(), on: Self.machine).map(Content.anchor) ?? .foreign
  }

  /// Writes the file anew in one step. Only what others are about to see must outlive a power cut: without it a file
  /// that got lost merely costs an incarnation.
  func write(_ anchor: Anchor, isDurable: Bool) throws {
    let file = try PendingFile(replacing: path)
    try file.write(anchor.bytes(at: file.place(), on: Self.machine))
    try file.commit(isDurable: isDurable)
  }

  /// Runs the body while no other process changes the file.
  func locked<Output>(_ body: () throws -> Output) throws -> Output {
    let lock = try LockFile("\(path).lock")
    return try withExtendedLifetime(lock, body)
  }

  /// Notes how far the own origin goes out, before any byte of it does, and when that is said: this time, or just after
  /// the statement before it where the clock was set back. An anchor that is not this database's is left as it is, so
  /// that the next opening finds out.
  package func noteExport(of head: OriginTable.Head, _ state: AnchoredState, at milliseconds: Int64) throws -> Int64 {
    try locked {
      guard case .anchor(var anchor) = try read(), anchor.incarnation == head.origin.incarnation else {
        return milliseconds
      }
      let isFurther = anchor.exported < head.sequence
      if isFurther { (anchor.exported, anchor.chain) = (head.sequence, head.chain) }
      anchor.state = state
      anchor.statedAt = max(milliseconds, anchor.statedAt &+ 1)
      try write(anchor, isDurable: isFurther)
      return anchor.statedAt
    }
  }

  /// When the tables were found to hold something else than was noted here; nil for never.
  package func alteredAt() throws -> Date? {
    guard case .anchor(let anchor) = try read(), anchor.alteredAt != 0 else { return nil }
    return Date(milliseconds: anchor.alteredAt)
  }

  /// Takes the tables for what they should be. False when nothing was noted of them.
  package func acceptState() throws -> Bool {
    try locked {
      guard case .anchor(var anchor) = try read(), anchor.alteredAt != 0 else { return false }
      (anchor.alteredAt, anchor.state) = (0, nil)
      try write(anchor, isDurable: true)
      return true
    }
  }

  /// SHA-256 of the machine's ID (machine-id(5)); zero where there is none.
  private static let machine: ContentHash = {
    guard let file = try? FileDescriptor.openForReading("/etc/machine-id"),
      let bytes = try? file.readToEnd(limit: 4_096), !bytes.isEmpty
    else { return .zero }
    return bytes.withUnsafeBytes { ContentHash(of: $0) }
  }()
}
