import Dispatch
import GodwitBase
import GodwitSyncFile

/// Compresses a growing buffer piece by piece on another thread, while the writer goes on filling it. Each piece
/// becomes a Zstandard frame of its own; frames one after another unpack as one (RFC 8878, section 3).
///
/// Of a bulk insert's cost beyond the rows themselves, compression is the largest part, and the only one that need
/// not be done by the writer's thread (Specs/decisions/0006-insert-runs.md).
final class PieceCompressor {
  /// Bytes handed over at once: large enough to compress well, small enough that little is left at the commit.
  static let pieceSize = 24 << 10

  private let queue = DispatchQueue(label: "godwit-compression")
  private let group = DispatchGroup()
  private let worker = Worker()
  private var pieces: [Piece] = []

  /// The compression context, made by the first piece.
  ///
  /// Unchecked Sendable: used only on the serial queue.
  private final class Worker: @unchecked Sendable {
    private var zstd: Zstd?

    func compress(_ bytes: [UInt8]) throws -> [UInt8] {
      let zstd = try self.zstd ?? Zstd(level: 1)
      self.zstd = zstd
      return try zstd.compress(bytes)
    }
  }

  /// One piece and its frame.
  ///
  /// Unchecked Sendable: `frame` is written once, on the queue, and read after the group has been waited for.
  private final class Piece: @unchecked Sendable {
    let end: Int
    let input: [UInt8]
    var frame: [UInt8]?

    init(end: Int, input: [UInt8]) {
      self.end = end
      self.input = input
    }
  }

  /// Where the part that was handed over ends.
  var end: Int { pieces.last?.end ?? 0 }

  /// Hands over the bytes that lead up to `end`.
  func add(_ bytes: UnsafeRawBufferPointer, end: Int) {
    let piece = Piece(end: end, input: Array(bytes))
    pieces.append(piece)
    queue.async(group: group) { [worker] in piece.frame = try? worker.compress(piece.input) }
  }

  /// Forgets what lies beyond `count`, because it was taken back.
  func truncate(to count: Int) {
    while let last = pieces.last, last.end > count { pieces.removeLast() }
  }

  func removeAll() { pieces.removeAll() }

  /// The frames of what was handed over, once all are ready; nil when one could not be made.
  func frames() -> [[UInt8]]? {
    group.wait()
    let frames = pieces.compactMap(\.frame)
    return frames.count == pieces.count ? frames : nil
  }
}
