import Dispatch
import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitSyncFile
import Synchronization

/// Compresses and hashes a growing buffer piece by piece on another thread, while the writer continues to fill it.
/// Each piece becomes a Zstandard frame of its own; frames one after another unpack as one (RFC 8878, section 3).
///
/// Of a bulk insert's cost beyond the rows themselves, compression and the hash are the largest parts, and the only
/// ones that need not be done by the writer's thread (Specs/decisions/0006-insert-runs.md).
package final class PieceWorker {
  /// Bytes handed over at once: the blocks that the hash of a change set is made of.
  static let pieceSize = TransactionRecord.hashBlockSize

  private let queue = DispatchQueue(label: "godwit-log")
  private let group = DispatchGroup()
  private let queuePacker = Packer()
  private let ownPacker = Packer()
  private var pieces: [Piece] = []

  /// A compression context, made by its first piece.
  ///
  /// Unchecked Sendable: one is used only on the serial queue, the other only by the writer.
  private final class Packer: @unchecked Sendable {
    private var zstd: Zstd?

    func compress(_ bytes: [UInt8]) throws -> [UInt8] {
      let zstd = try self.zstd ?? Zstd(level: LogCoder.compressionLevel)
      self.zstd = zstd
      return try zstd.compress(bytes)
    }
  }

  /// One piece, its frame and its hash.
  ///
  /// Unchecked Sendable: whoever moves `state` from waiting to taken uses `input`, writes `frame` and `hash`, and hands
  /// them on by moving it to done; only then are they read.
  private final class Piece: @unchecked Sendable {
    private enum State {
      static let waiting = 0
      static let taken = 1
      static let done = 2
    }
    private let state = Atomic(State.waiting)
    private var input: [UInt8]
    private(set) var frame: [UInt8]?
    private(set) var hash = ContentHash.zero

    init(_ input: UnsafeRawBufferPointer) { self.input = Array(input) }

    var isDone: Bool { state.load(ordering: .acquiring) == State.done }

    /// Does the work unless it is done or under way elsewhere.
    func work(_ packer: Packer) {
      let (isMine, _) = state.compareExchange(
        expected: State.waiting, desired: State.taken, ordering: .acquiring)
      guard isMine else { return }
      hash = input.withUnsafeBytes { ContentHash(of: $0) }
      frame = try? packer.compress(input)
      input = []
      state.store(State.done, ordering: .releasing)
    }
  }

  /// What is ready of the buffer's beginning: whole pieces.
  package struct Finished {
    let frames: [[UInt8]]
    let hashes: [ContentHash]
    var end: Int { frames.count * pieceSize }
  }

  /// Where the part that was handed over ends.
  var end: Int { pieces.count * Self.pieceSize }

  /// Hands over the ``pieceSize`` bytes that come after ``end``.
  func add(_ bytes: UnsafeRawBufferPointer) {
    let piece = Piece(bytes)
    pieces.append(piece)
    queue.async(group: group) { [queuePacker] in piece.work(queuePacker) }
  }

  /// Forgets what lies beyond `count`, because it was taken back.
  func truncate(to count: Int) { pieces.removeLast(max(0, pieces.count - count / Self.pieceSize)) }

  func removeAll() { pieces.removeAll() }

  /// What was handed over, once it is ready; nil when there was nothing or a piece could not be compressed.
  ///
  /// The caller does what the queue has not begun, the last piece first; one may then be under way there. Waking a
  /// thread takes longer than a piece, so it looks for a while before it sleeps.
  func finish() -> Finished? {
    guard !pieces.isEmpty else { return nil }
    for piece in pieces.reversed() { piece.work(ownPacker) }
    if let running = pieces.first(where: { !$0.isDone }) {
      var looks = 0
      while looks < 20_000, !running.isDone { looks += 1 }
      if !running.isDone { group.wait() }
    }
    let frames = pieces.compactMap(\.frame)
    return frames.count == pieces.count ? Finished(frames: frames, hashes: pieces.map(\.hash)) : nil
  }
}
