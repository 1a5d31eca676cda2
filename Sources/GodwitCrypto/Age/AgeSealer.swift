import Foundation
import GodwitBase

/// Seals what is written to it as an age v1 file, holding 2 MiB at most.
///
/// Nothing distinguishes a file that ends without ``finish()`` from a cut one; readers refuse both.
package final class AgeSealer: ByteSink {
  static let payloadNonceByteCount = 16
  private static let chunkByteCount = AgeChunkCipher.plainByteCountMax

  /// SHA-256 of all in front of the payload, its nonce included, for what the payload says of the file it is in.
  package let binding: ContentHash

  private let sink: any ByteSink
  private let cipher: AgeChunkCipher
  private var nextNumber: UInt64 = 0
  private let pending = UnsafeMutableRawBufferPointer.allocate(
    byteCount: AgeChunkBatch.chunkCountMax * chunkByteCount, alignment: 64)
  private var pendingCount = 0
  /// How much of the room was ever used, and is wiped at the end.
  private var usedCount = 0
  /// False once finished, and after a failed write: half a chunk may be in the sink.
  private var isOpen = true

  /// Writes the header and the payload's nonce to the sink.
  ///
  /// Throws `invalidArgument` without recipients, or with classical beside hybrid ones, which would undo what those
  /// are for; `limitExceeded` beyond 1,024 of them; and what the sink throws.
  package convenience init(recipients: [AgeRecipient], to sink: any ByteSink) throws {
    guard let kind = recipients.first?.kind else {
      throw GodwitError(.invalidArgument, "a file must be sealed to at least one recipient")
    }
    guard recipients.count <= AgeHeader.stanzaCountMax else {
      throw GodwitError(.limitExceeded, "a file can have \(AgeHeader.stanzaCountMax) recipients at most")
    }
    guard recipients.allSatisfy({ $0.kind == kind }) else {
      throw GodwitError(
        .invalidArgument, "a file for post-quantum recipients must name no classical ones",
        hint: "seal one file to each kind")
    }
    let fileKey = AgeFileKey.random()
    let stanzas = try recipients.map { recipient in
      switch recipient.kind {
      case .x25519: try X25519Stanza.wrap(fileKey, to: recipient)
      case .hybrid: try HybridStanza.wrap(fileKey, to: recipient)
      }
    }
    try self.init(fileKey, stanzas, to: sink)
  }

  /// Seals to a passphrase. Throws `invalidArgument` or `limitExceeded` for a cost outside 1…``Scrypt/costMax``.
  package convenience init(passphrase: SecretBytes, cost: Int = Scrypt.costDefault, to sink: any ByteSink) throws {
    let fileKey = AgeFileKey.random()
    try self.init(fileKey, [ScryptStanza.wrap(fileKey, to: passphrase, cost: cost)], to: sink)
  }

  init(_ fileKey: AgeFileKey, _ stanzas: [AgeStanza], to sink: any ByteSink) throws {
    let nonce = SecretBytes(random: Self.payloadNonceByteCount).withUnsafeBytes(Array.init)
    self.sink = sink
    cipher = AgeChunkCipher(key: fileKey.payloadKey(nonce: nonce))
    let header = AgeHeader(stanzas: stanzas, fileKey: fileKey)
    binding = header.binding(nonce: nonce)
    try sink.write(header.encoded + nonce)
  }

  deinit {
    if let base = pending.baseAddress { explicit_bzero(base, usedCount) }
    pending.deallocate()
  }

  package func write(_ buffer: UnsafeRawBufferPointer) throws {
    try requireOpen()
    var rest = buffer
    while !rest.isEmpty {
      // A full chunk waits until more comes, because only then it is known not to be the final one.
      if pendingCount == pending.count {
        pendingCount = 0
        try seal(UnsafeRawBufferPointer(pending), isFinal: false)
      }
      if pendingCount == 0, rest.count > Self.chunkByteCount {
        let whole = min((rest.count - 1) / Self.chunkByteCount, AgeChunkBatch.chunkCountMax) * Self.chunkByteCount
        try seal(UnsafeRawBufferPointer(rebasing: rest[..<whole]), isFinal: false)
        rest = UnsafeRawBufferPointer(rebasing: rest[whole...])
      } else {
        let part = UnsafeRawBufferPointer(rebasing: rest.prefix(pending.count - pendingCount))
        UnsafeMutableRawBufferPointer(rebasing: pending[pendingCount...]).copyMemory(from: part)
        pendingCount += part.count
        usedCount = max(usedCount, pendingCount)
        rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
      }
    }
  }

  /// Writes the final chunk. Nothing can be written afterwards.
  package func finish() throws {
    try requireOpen()
    try seal(UnsafeRawBufferPointer(rebasing: pending[..<pendingCount]), isFinal: true)
  }

  /// Seals whole chunks, of which only a final one may be short, and writes them.
  private func seal(_ plain: UnsafeRawBufferPointer, isFinal: Bool) throws {
    isOpen = false
    let size = Self.chunkByteCount
    let count = max(1, (plain.count + size - 1) / size)
    // The numbers are taken before anything can fail, so no nonce comes twice.
    let first = nextNumber
    nextNumber += UInt64(count)
    let cipher = cipher
    nonisolated(unsafe) let plain = plain  // only read, and only until `map` returns
    let chunks = try AgeChunkBatch.map(count) { index in
      try cipher.seal(
        UnsafeRawBufferPointer(rebasing: plain[(index * size)..<min((index + 1) * size, plain.count)]),
        number: first + UInt64(index), isFinal: isFinal && index == count - 1)
    }
    for chunk in chunks { try chunk.withUnsafeBytes { try sink.write($0) } }
    isOpen = !isFinal
  }

  private func requireOpen() throws {
    guard isOpen else {
      throw GodwitError(.invalidArgument, "the sealed file is finished or could not be written and takes no more")
    }
  }
}
