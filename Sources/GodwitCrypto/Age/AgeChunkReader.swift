import GodwitBase

/// Reads sealed chunks into places of their own, each with room for its nonce in front, and one chunk ahead, because
/// only what follows shows whether a chunk is the final one.
final class AgeChunkReader {
  /// Chunks in order; they stay until the next batch is asked for.
  struct Batch: Sendable {
    /// Safe to share because chunks have places of their own.
    fileprivate nonisolated(unsafe) let places: UnsafeMutableRawBufferPointer
    fileprivate let firstPlace: Int
    fileprivate let lastByteCount: Int
    let count: Int
    /// Nothing follows the batch.
    let isEnd: Bool

    func byteCount(_ index: Int) -> Int {
      index == count - 1 ? lastByteCount : AgeChunkCipher.sealedByteCountMax
    }

    /// Not shorter than a tag, and empty only as the first chunk of all.
    func isWhole(_ index: Int, number: UInt64) -> Bool {
      byteCount(index) > AgeChunkCipher.tagByteCount
        || byteCount(index) == AgeChunkCipher.tagByteCount && number == 0
    }

    /// Room for the nonce, then the chunk.
    func chunk(_ index: Int) -> UnsafeMutableRawBufferPointer {
      let start = (firstPlace + index) % AgeChunkReader.placeCount * AgeChunkReader.placeByteCount
      return UnsafeMutableRawBufferPointer(
        rebasing: places[start..<start + AgeChunkCipher.nonceByteCount + byteCount(index)])
    }
  }

  private static let placeCount = AgeChunkBatch.chunkCountMax + 1
  private static let placeByteCount = AgeChunkCipher.nonceByteCount + AgeChunkCipher.sealedByteCountMax

  private let source: any ByteSource
  private let places = UnsafeMutableRawBufferPointer.allocate(byteCount: placeCount * placeByteCount, alignment: 64)
  /// The chunk that was read ahead: where it lies and its size.
  private var ahead: (place: Int, byteCount: Int)?
  /// Grows from batch to batch, so that the first bytes come early from a slow source.
  private var chunkCountMax = 1

  init(_ source: any ByteSource) { self.source = source }

  deinit { places.deallocate() }

  /// At least one chunk; at the end of the source one that may be empty.
  func next() throws -> Batch {
    let first = try ahead ?? (0, fill(0))
    var count = 1
    var lastByteCount = first.byteCount
    ahead = nil
    while lastByteCount == AgeChunkCipher.sealedByteCountMax {
      let place = (first.place + count) % Self.placeCount
      let byteCount = try fill(place)
      if byteCount == 0 { break }
      if count == chunkCountMax {
        ahead = (place, byteCount)
        break
      }
      count += 1
      lastByteCount = byteCount
    }
    chunkCountMax = min(chunkCountMax * 2, AgeChunkBatch.chunkCountMax)
    return Batch(
      places: places, firstPlace: first.place, lastByteCount: lastByteCount, count: count, isEnd: ahead == nil)
  }

  private func fill(_ place: Int) throws -> Int {
    let start = place * Self.placeByteCount
    return try source.readFully(
      into: UnsafeMutableRawBufferPointer(
        rebasing: places[(start + AgeChunkCipher.nonceByteCount)..<(start + Self.placeByteCount)]))
  }
}
