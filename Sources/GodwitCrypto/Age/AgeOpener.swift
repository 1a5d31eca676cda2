import Foundation
import GodwitBase

/// Opens an age v1 file as it comes, holding 2 MiB at most.
///
/// Every byte it gives out is authentic, but only the end (a read that returns 0) says that the file is complete.
package final class AgeOpener: ByteSource {
  /// How many stanzas the header has, of whatever type.
  package let stanzaCount: Int
  /// SHA-256 of all in front of the payload, its nonce included: another file, or the same one sealed anew, has
  /// another.
  package let binding: ContentHash

  private let source: any ByteSource
  private let cipher: AgeChunkCipher
  private let chunks: AgeChunkReader
  private var nextNumber: UInt64 = 0
  /// Opened and not given out yet, in order from the back.
  private var plain: [Data] = []
  private var isComplete = false
  private var failure: (any Error)?

  /// Reads the header and checks all of it.
  ///
  /// With `allowsArmor` the file may also be armored. A passphrase stanza that costs more than `costMax` (scrypt,
  /// 2^cost KiB) is refused before any of that is allocated.
  ///
  /// Throws `notARecipient` when no key opens a stanza, `unsupportedVersion` for another version of age,
  /// `truncatedFile`, `limitExceeded`, or `corruptFile` for a header that is malformed or was changed.
  package convenience init(
    _ source: any ByteSource, identities: [AgeIdentity] = [], passphrases: [SecretBytes] = [],
    costMax: Int = Scrypt.costMax, allowsArmor: Bool = false
  ) throws {
    try self.init(
      AgeEnvelope(source, allowsArmor: allowsArmor), identities: identities, passphrases: passphrases, costMax: costMax)
  }

  /// Opens what the envelope holds, once.
  package init(
    _ envelope: AgeEnvelope, identities: [AgeIdentity] = [], passphrases: [SecretBytes] = [],
    costMax: Int = Scrypt.costMax
  ) throws {
    stanzaCount = envelope.stanzaTypes.count
    let fileKey = try envelope.header.fileKey(identities: identities, passphrases: passphrases, costMax: costMax)
    source = envelope.payload
    let nonce = try source.readExactly(AgeSealer.payloadNonceByteCount)
    binding = envelope.header.binding(nonce: nonce)
    cipher = AgeChunkCipher(key: fileKey.payloadKey(nonce: nonce))
    chunks = AgeChunkReader(envelope.payload)
  }

  /// Throws `truncatedFile` when the file ends before its final chunk, `corruptFile` when a chunk was changed or
  /// something follows the final one. An error stays: later reads throw it again.
  package func read(into target: UnsafeMutableRawBufferPointer) throws -> Int {
    while true {
      if let part = plain.last {
        let count = min(target.count, part.count)
        part.copyBytes(to: target, count: count)
        if count == part.count { plain.removeLast() } else { plain[plain.count - 1] = part.dropFirst(count) }
        if count > 0 || target.isEmpty { return count }
      } else {
        if let failure { throw failure }
        if isComplete { return 0 }
        do {
          try openNextBatch()
        } catch {
          failure = error
          throw error
        }
      }
    }
  }

  private func openNextBatch() throws {
    let batch = try chunks.next()
    let first = nextNumber
    nextNumber += UInt64(batch.count)
    let cipher = cipher
    var opened: [Data] = []
    let results = try AgeChunkBatch.map(batch.count) { index -> Data? in
      guard batch.isWhole(index, number: first + UInt64(index)) else { return nil }
      return cipher.open(
        batch.chunk(index), number: first + UInt64(index), isFinal: batch.isEnd && index == batch.count - 1)
    }
    for (index, result) in results.enumerated() {
      guard let result else {
        failure = explain(batch, index, number: first + UInt64(index), &opened)
        break
      }
      opened.append(result)
    }
    isComplete = failure == nil && batch.isEnd
    plain = opened.reversed()
  }

  /// Why a chunk does not open where it stands. One that is authentic but in the wrong place is given out, as other
  /// implementations do; the file is wrong after it.
  private func explain(
    _ batch: AgeChunkReader.Batch, _ index: Int, number: UInt64, _ opened: inout [Data]
  ) -> GodwitError {
    let isLast = batch.isEnd && index == batch.count - 1
    let byteCount = batch.byteCount(index)
    guard byteCount >= AgeChunkCipher.tagByteCount else { return AgePayload.truncated() }
    guard byteCount > AgeChunkCipher.tagByteCount || number == 0 else {
      return AgePayload.corrupt("its final chunk is empty")
    }
    if byteCount == AgeChunkCipher.sealedByteCountMax,
      let data = cipher.open(batch.chunk(index), number: number, isFinal: !isLast)
    {
      opened.append(data)
      return isLast ? AgePayload.truncated() : AgePayload.corrupt("something follows its final chunk")
    }
    return AgePayload.corrupt(isLast ? "its last chunk was changed or cut" : "a chunk was changed")
  }
}

/// What can be wrong with a payload.
enum AgePayload {
  static func truncated() -> GodwitError {
    GodwitError(.truncatedFile, "the file ends before its final chunk", hint: "copy the file again from its source")
  }

  static func corrupt(_ reason: String) -> GodwitError {
    GodwitError(.corruptFile, "the sealed file is damaged: \(reason)", hint: "copy the file again from its source")
  }
}
