import Foundation
import GodwitBase

/// Opens an age v1 file that is sealed to an X25519 identity, holding two chunks of 64 KiB at most.
///
/// Every byte it gives out is authentic, but only the end (a read that returns 0) says that the file is complete.
package final class AgeOpener: ByteSource {
  /// How many stanzas the header has, of whatever type.
  package let stanzaCount: Int

  private let source: LineSource
  private var cipher: AgeChunkCipher
  /// Room for a nonce, a sealed chunk, and one byte more that tells whether another chunk follows.
  private var buffer = [UInt8](
    repeating: 0, count: AgeChunkCipher.nonceByteCount + AgeChunkCipher.sealedByteCountMax + 1)
  /// 1 when the buffer's last byte is the first of the next chunk.
  private var carriedCount = 0
  private var plain = Data()
  private var isComplete = false
  private var failure: (any Error)?

  /// Reads the header and checks all of it.
  ///
  /// Throws `notARecipient` when no identity opens a stanza, `unsupportedVersion` for another version of age,
  /// `truncatedFile`, `limitExceeded`, or `corruptFile` for a header that is malformed or was changed.
  package init(_ source: any ByteSource, identities: [AgeIdentity]) throws {
    self.source = LineSource(source)
    let header = try AgeHeader(reading: self.source)
    stanzaCount = header.stanzas.count
    let fileKey = try Self.fileKey(header, identities)
    guard header.isAuthentic(under: fileKey) else {
      throw GodwitError(
        .corruptFile, "the age header was changed after sealing", hint: "copy the file again from its source")
    }
    let nonce = try self.source.readExactly(AgeSealer.payloadNonceByteCount)
    cipher = AgeChunkCipher(key: fileKey.payloadKey(nonce: nonce))
  }

  /// Throws `truncatedFile` when the file ends before its final chunk, `corruptFile` when a chunk was changed or
  /// something follows the final one. An error stays: later reads throw it again.
  package func read(into target: UnsafeMutableRawBufferPointer) throws -> Int {
    while plain.isEmpty {
      if let failure { throw failure }
      if isComplete { return 0 }
      try openNextChunk()
    }
    let count = min(target.count, plain.count)
    plain.copyBytes(to: target, count: count)
    plain = plain.dropFirst(count)
    return count
  }

  private static func fileKey(_ header: AgeHeader, _ identities: [AgeIdentity]) throws -> AgeFileKey {
    // C2SP age, section "The scrypt recipient type": its stanza stands alone.
    guard header.stanzas.count == 1 || !header.stanzas.contains(where: { $0.type == "scrypt" }) else {
      throw AgeHeader.malformed("a passphrase stanza is not the only one")
    }
    let stanzas = try header.stanzas.filter { $0.type == X25519Stanza.type }.map(X25519Stanza.init)
    for identity in identities {
      let key = try identity.agreementKey()
      for stanza in stanzas {
        if let fileKey = try stanza.unwrap(with: key, of: identity.recipient) { return fileKey }
      }
    }
    throw GodwitError(
      .notARecipient, "the file is sealed to other recipients",
      hint: "ask its sender to add this replica as a member and export again")
  }

  private func openNextChunk() throws {
    let start = AgeChunkCipher.nonceByteCount
    let count = try readChunk()
    let isLast = count <= AgeChunkCipher.sealedByteCountMax
    let sealedCount = min(count, AgeChunkCipher.sealedByteCountMax)
    guard sealedCount >= AgeChunkCipher.tagByteCount else { throw fail(Self.truncated()) }
    guard sealedCount > AgeChunkCipher.tagByteCount || cipher.chunkIndex == 0 else {
      throw fail(Self.corrupt("its final chunk is empty"))
    }
    func open(isFinal: Bool) -> Data? {
      buffer.withUnsafeMutableBytes {
        cipher.open(UnsafeMutableRawBufferPointer(rebasing: $0[..<(start + sealedCount)]), isFinal: isFinal)
      }
    }
    if let data = open(isFinal: isLast) {
      plain = data
      isComplete = isLast
    } else if sealedCount == AgeChunkCipher.sealedByteCountMax, let data = open(isFinal: !isLast) {
      // Authentic, so it is given out as other implementations do; but the file is wrong after it.
      plain = data
      failure = isLast ? Self.truncated() : Self.corrupt("something follows its final chunk")
    } else {
      throw fail(Self.corrupt(isLast ? "its last chunk was changed or cut" : "a chunk was changed"))
    }
    cipher.advance()
  }

  /// Fills the buffer behind the nonce; the count is one more than a sealed chunk when another one follows.
  private func readChunk() throws -> Int {
    let start = AgeChunkCipher.nonceByteCount
    if carriedCount == 1 { buffer[start] = buffer[buffer.count - 1] }
    let count: Int
    do {
      count = try buffer.withUnsafeMutableBytes { bytes in
        try source.readFully(into: UnsafeMutableRawBufferPointer(rebasing: bytes[(start + carriedCount)...]))
      }
    } catch {
      throw fail(error)
    }
    let total = carriedCount + count
    carriedCount = total > AgeChunkCipher.sealedByteCountMax ? 1 : 0
    return total
  }

  private func fail(_ error: any Error) -> any Error {
    failure = error
    return error
  }

  private static func truncated() -> GodwitError {
    GodwitError(.truncatedFile, "the file ends before its final chunk", hint: "copy the file again from its source")
  }

  private static func corrupt(_ reason: String) -> GodwitError {
    GodwitError(.corruptFile, "the sealed file is damaged: \(reason)", hint: "copy the file again from its source")
  }
}
