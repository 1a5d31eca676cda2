import GodwitBase

/// What two replicas say to each other over a connection, message by message (Specs/remotes.md, "Talks").
///
/// Unchecked Sendable: one side speaks at a time, so its calls follow one another.
package final class TalkStream: @unchecked Sendable {
  /// A message: what it is, and its bytes.
  package enum Message: Equatable {
    /// Who is there, of which group.
    case hello([UInt8])
    /// A piece of a sync file.
    case chunk([UInt8])
    /// A sync file's end.
    case end
    /// No sync file: the other side does not send.
    case nothing
    /// What went wrong over there: code, message and hint, each with its length.
    case failure([UInt8])
    /// All is said.
    case bye
  }

  /// Beside an error of writing: nobody reads any more. Why may have come before.
  struct OtherEndGone: Error {}

  /// What the server says first; a shell may have said something before it.
  package static let magic = Array("\(magicStart)1\n".utf8)
  private static let magicStart = "GODWIT TALK "
  /// How long the other side may say nothing, in seconds: it may be taking in a large file.
  package static let silence = 600
  /// How far the magic is looked for.
  static let bannerLimit = 64 << 10
  /// The most bytes of a message.
  package static let messageLimit = 1 << 20

  private let source: any ByteSource
  private let sink: any ByteSink

  package init(source: any ByteSource, sink: any ByteSink) {
    self.source = source
    self.sink = sink
  }

  package func writeMagic() throws { try sink.write(Self.magic) }

  /// Passes over what stands before the magic. Returns the first line of that when there is no magic.
  ///
  /// - Throws: `unsupportedVersion` where the other side begins a talk of another version.
  package func findMagic() throws -> String? {
    var seen: [UInt8] = []
    var lineStart = 0
    while seen.suffix(Self.magic.count) != Self.magic[...] {
      guard seen.count < Self.bannerLimit, let byte = try? source.readExactly(1) else {
        return String(decoding: seen.prefix { $0 != UInt8(ascii: "\n") }.prefix(200), as: UTF8.self)
      }
      seen += byte
      guard byte == [UInt8(ascii: "\n")] else { continue }
      try Self.requireNoOtherVersion(seen[lineStart...].dropLast())
      lineStart = seen.count
    }
    return nil
  }

  private static func requireNoOtherVersion(_ seen: ArraySlice<UInt8>) throws {
    let line = String(decoding: seen, as: UTF8.self)
    guard line.hasPrefix(magicStart), Array("\(line)\n".utf8) != magic else { return }
    let version = line.dropFirst(magicStart.count)
    guard !version.isEmpty, version.utf8.count < 8, version.utf8.allSatisfy({ (48...57).contains($0) }) else { return }
    throw GodwitError(
      .unsupportedVersion, "the program over there talks in version \(version), and this one in version 1",
      hint: "update the older one of them")
  }

  /// - Throws: `unreachable` where the connection broke.
  package func write(_ message: Message) throws {
    let (kind, bytes) = message.encoded
    var writer = ByteWriter(capacity: 5)
    writer.byte(kind)
    writer.bigEndian(UInt32(bytes.count))
    try sink.write(writer.bytes + bytes)
  }

  /// What the other side said had failed before it stopped reading; nil for any other failure, and where it said
  /// nothing.
  ///
  /// - Parameter error: What writing threw.
  package func lastWords(after error: any Error) -> Message? {
    guard (error as? GodwitError)?.underlying is OtherEndGone else { return nil }
    // It may have ended its turn before.
    for _ in 0..<2 {
      guard let message = try? read() else { return nil }
      if case .failure = message { return message }
    }
    return nil
  }

  /// - Throws: `corruptFile` for what is no message, `limitExceeded` for one that is too long, `unreachable` where the
  ///   connection ends.
  package func read() throws -> Message {
    do {
      return try readMessage()
    } catch let error as GodwitError where error.code == .truncatedFile {
      throw GodwitError(
        .unreachable, "the connection ended in the middle of the talk", hint: "try again later", underlying: error)
    }
  }

  private func readMessage() throws -> Message {
    var head = ByteReader(try source.readExactly(5))
    let kind = try head.byte()
    let count = Int(try head.bigEndian() as UInt32)
    guard count <= Self.messageLimit else {
      throw GodwitError(
        .limitExceeded, "a message of the other side has \(count) bytes; \(Self.messageLimit) are allowed",
        hint: "update both")
    }
    let bytes = try source.readExactly(count)
    guard let message = Message(kind, bytes) else {
      throw GodwitError(.corruptFile, "the other side said what is no message of this version", hint: "update both")
    }
    return message
  }
}

extension TalkStream.Message {
  fileprivate var encoded: (UInt8, [UInt8]) {
    switch self {
    case .hello(let bytes): (1, bytes)
    case .chunk(let bytes): (2, bytes)
    case .end: (3, [])
    case .nothing: (4, [])
    case .failure(let bytes): (5, bytes)
    case .bye: (6, [])
    }
  }

  fileprivate init?(_ kind: UInt8, _ bytes: [UInt8]) {
    switch kind {
    case 1: self = .hello(bytes)
    case 2 where !bytes.isEmpty: self = .chunk(bytes)
    case 3 where bytes.isEmpty: self = .end
    case 4 where bytes.isEmpty: self = .nothing
    case 5: self = .failure(bytes)
    case 6 where bytes.isEmpty: self = .bye
    default: return nil
    }
  }
}
