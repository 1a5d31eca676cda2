import Foundation
import GodwitBase

/// Seals what is written to it as an age v1 file for X25519 recipients, holding one chunk of 64 KiB at most.
///
/// Nothing tells a file that ends without ``finish()`` from a cut one; readers refuse both.
package final class AgeSealer: ByteSink {
  static let payloadNonceByteCount = 16

  private let sink: any ByteSink
  private var cipher: AgeChunkCipher
  private let pending = UnsafeMutableRawBufferPointer.allocate(
    byteCount: AgeChunkCipher.plainByteCountMax, alignment: 64)
  private var pendingCount = 0
  /// False once finished, and after a failed write: half a chunk may be in the sink.
  private var isOpen = true

  /// Writes the header and the payload's nonce to the sink.
  ///
  /// Throws `invalidArgument` without recipients, `limitExceeded` beyond 1,024 of them, and what the sink throws.
  package init(recipients: [AgeRecipient], to sink: any ByteSink) throws {
    guard !recipients.isEmpty else {
      throw GodwitError(.invalidArgument, "a file must be sealed to at least one recipient")
    }
    guard recipients.count <= AgeHeader.stanzaCountMax else {
      throw GodwitError(.limitExceeded, "a file can have \(AgeHeader.stanzaCountMax) recipients at most")
    }
    let fileKey = AgeFileKey.random()
    let stanzas = try recipients.map { try X25519Stanza.wrap(fileKey, to: $0) }
    let nonce = SecretBytes(random: Self.payloadNonceByteCount).withUnsafeBytes(Array.init)
    self.sink = sink
    cipher = AgeChunkCipher(key: fileKey.payloadKey(nonce: nonce))
    try sink.write(AgeHeader(stanzas: stanzas, fileKey: fileKey).encoded + nonce)
  }

  deinit {
    if let base = pending.baseAddress { explicit_bzero(base, pending.count) }
    pending.deallocate()
  }

  package func write(_ buffer: UnsafeRawBufferPointer) throws {
    try requireOpen()
    let size = pending.count
    var rest = buffer
    while !rest.isEmpty {
      // A full chunk waits until more comes, because only then it is known not to be the final one.
      if pendingCount == size {
        pendingCount = 0
        try seal(UnsafeRawBufferPointer(pending), isFinal: false)
      }
      if pendingCount == 0, rest.count > size {
        try seal(UnsafeRawBufferPointer(rebasing: rest[..<size]), isFinal: false)
        rest = UnsafeRawBufferPointer(rebasing: rest[size...])
      } else {
        let part = UnsafeRawBufferPointer(rebasing: rest.prefix(size - pendingCount))
        UnsafeMutableRawBufferPointer(rebasing: pending[pendingCount...]).copyMemory(from: part)
        pendingCount += part.count
        rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
      }
    }
  }

  /// Writes the final chunk. Nothing can be written afterwards.
  package func finish() throws {
    try requireOpen()
    try seal(UnsafeRawBufferPointer(rebasing: pending[..<pendingCount]), isFinal: true)
  }

  private func seal(_ plain: UnsafeRawBufferPointer, isFinal: Bool) throws {
    isOpen = false
    try cipher.seal(plain, isFinal: isFinal).withUnsafeBytes { try sink.write($0) }
    isOpen = !isFinal
  }

  private func requireOpen() throws {
    guard isOpen else {
      throw GodwitError(.invalidArgument, "the sealed file is finished or could not be written and takes no more")
    }
  }
}
