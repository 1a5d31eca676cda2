import Dispatch
import GodwitBase
import GodwitKeys
import GodwitSyncFile

/// Compresses and hashes a growing buffer piece by piece on another thread, while the writer goes on filling it.
/// Each piece becomes a Zstandard frame of its own; frames one after another unpack as one (RFC 8878, section 3).
///
/// Of a bulk insert's cost beyond the rows themselves, compression and the hash are the largest parts, and the only
/// ones that need not be done by the writer's thread (Specs/decisions/0006-insert-runs.md).
final class PieceWorker {
  /// Bytes handed over at once: large enough to compress well, small enough that little is left at the commit.
  static let pieceSize = 24 << 10

  private let queue = DispatchQueue(label: "godwit-log")
  private let group = DispatchGroup()
  private let packer = Packer()
  private var pieces: [Piece] = []

  /// The compression context, made by the first piece.
  ///
  /// Unchecked Sendable: used only on the serial queue.
  private final class Packer: @unchecked Sendable {
    private var zstd: Zstd?

    func compress(_ bytes: [UInt8]) throws -> [UInt8] {
      let zstd = try self.zstd ?? Zstd(level: LogCoder.compressionLevel)
      self.zstd = zstd
      return try zstd.compress(bytes)
    }
  }

  /// One piece, its frame, and the hash of all up to its end.
  ///
  /// Unchecked Sendable: `frame` and `hasher` are written once, on the queue, and read there by the next piece or
  /// after the group has been waited for.
  private final class Piece: @unchecked Sendable {
    let end: Int
    let input: [UInt8]
    var frame: [UInt8]?
    var hasher = ContentHasher()

    init(end: Int, input: [UInt8]) {
      self.end = end
      self.input = input
    }
  }

  /// What is ready of the buffer's beginning.
  struct Finished {
    /// Up to where.
    let end: Int
    let frames: [[UInt8]]
    let hasher: ContentHasher
  }

  /// Where the part that was handed over ends.
  var end: Int { pieces.last?.end ?? 0 }

  /// Hands over the bytes that lead up to `end`.
  func add(_ bytes: UnsafeRawBufferPointer, end: Int) {
    let piece = Piece(end: end, input: Array(bytes))
    let previous = pieces.last
    pieces.append(piece)
    queue.async(group: group) { [packer] in
      if let previous { piece.hasher = previous.hasher }
      piece.hasher.update(piece.input)
      piece.frame = try? packer.compress(piece.input)
    }
  }

  /// Forgets what lies beyond `count`, because it was taken back.
  func truncate(to count: Int) {
    while let last = pieces.last, last.end > count { pieces.removeLast() }
  }

  func removeAll() { pieces.removeAll() }

  /// What was handed over, once it is ready; nil when there was nothing or a piece could not be compressed.
  func finish() -> Finished? {
    guard let last = pieces.last else { return nil }
    group.wait()
    let frames = pieces.compactMap(\.frame)
    return frames.count == pieces.count ? Finished(end: last.end, frames: frames, hasher: last.hasher) : nil
  }
}
