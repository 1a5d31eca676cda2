import GodwitBase

/// What a later version adds to a header (Specs/sync-file.md, "Fields"). A reader that does not know the tag passes
/// over the field when the tag is odd, and refuses the file when it is even.
package struct SyncFileField: Equatable, Sendable {
  package let tag: UInt32
  package let bytes: [UInt8]

  package init(tag: UInt32, bytes: [UInt8]) {
    self.tag = tag
    self.bytes = bytes
  }

  package static let countLimit = 256
  package static let byteLimit = 1 << 20
  /// None has been given out yet.
  private static let knownTags: Set<UInt32> = []

  /// Whether a reader may pass over it.
  package var isIgnorable: Bool { !tag.isMultiple(of: 2) }
}

extension [SyncFileField] {
  func write(to writer: inout ByteWriter) {
    writer.varint(count)
    for field in self {
      writer.varint(UInt64(field.tag))
      writer.lengthPrefixed(field.bytes)
    }
  }

  /// Rising by tag, so that there is one form of them. Throws `unsupportedVersion` for one that must be understood.
  init(reading reader: inout ByteReader) throws {
    self = []
    for _ in 0..<(try reader.count(limit: SyncFileField.countLimit, "fields")) {
      let tag = UInt32(try reader.count(limit: Int(UInt32.max), "a field's tag"))
      if let before = last, before.tag >= tag { throw ByteReader.malformed("fields out of order") }
      append(SyncFileField(tag: tag, bytes: [UInt8](try reader.lengthPrefixed(limit: SyncFileField.byteLimit))))
    }
    guard let unknown = first(where: { !$0.isIgnorable && !SyncFileField.isKnown($0.tag) }) else { return }
    throw GodwitError(
      .unsupportedVersion, "the sync file uses feature \(unknown.tag), which this program does not know",
      hint: "update this program, or export again with the older one")
  }
}

extension SyncFileField {
  fileprivate static func isKnown(_ tag: UInt32) -> Bool { knownTags.contains(tag) }
}
