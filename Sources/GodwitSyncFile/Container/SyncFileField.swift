import GodwitBase
import GodwitKeys

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
  /// Identities that members replaced. Even: a reader that passed over it would seal to keys that were given up.
  static let historiesTag: UInt32 = 18
  static let historiesByteLimit = 16 << 20
  /// Names that members were given.
  static let namesTag: UInt32 = 19
  /// What beside the deciding records shows who is a member. Even: a reader that passed over it would believe records
  /// that count no more.
  static let furtherTag: UInt32 = 20
  /// Signed acknowledgements.
  static let acknowledgementsTag: UInt32 = 17
  /// Up to where the sender has what waits there.
  static let heldTag: UInt32 = 21
  /// An epoch's secret. Even: a reader that passed over it could not open what comes next.
  static let epochTag: UInt32 = 22
  private static let knownTags: Set<UInt32> = [
    acknowledgementsTag, historiesTag, namesTag, furtherTag, heldTag, epochTag,
  ]

  /// Whether it is a part of the roster.
  var isOfRoster: Bool { [Self.historiesTag, Self.namesTag, Self.furtherTag].contains(tag) }

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
      let isLong = tag == SyncFileField.historiesTag || tag == SyncFileField.furtherTag
      let limit = isLong ? SyncFileField.historiesByteLimit : SyncFileField.byteLimit
      append(SyncFileField(tag: tag, bytes: [UInt8](try reader.lengthPrefixed(limit: limit))))
    }
    guard let unknown = first(where: { !$0.isIgnorable && !SyncFileField.isKnown($0.tag) }) else { return }
    throw GodwitError(
      .unsupportedVersion, "the sync file uses feature \(unknown.tag), which this program does not know",
      hint: "update this program, or export again with the older one")
  }
}

extension [SyncFileField] {
  /// What a roster says beside its member records.
  init(_ roster: RosterRecords) {
    self = []
    if !roster.histories.isEmpty {
      append(Element(tag: Element.historiesTag, bytes: RosterRecords.encode(roster.histories)))
    }
    if !roster.names.isEmpty { append(Element(tag: Element.namesTag, bytes: RosterRecords.encode(roster.names))) }
    if roster.hasFurther { append(Element(tag: Element.furtherTag, bytes: roster.encodeFurther())) }
  }

  /// These with others, each before the first of a greater tag.
  func joined(by others: [SyncFileField]) -> [SyncFileField] {
    others.reduce(into: self) { fields, field in
      fields.insert(field, at: fields.firstIndex { $0.tag > field.tag } ?? fields.endIndex)
    }
  }

  /// Takes the field with this tag out.
  mutating func remove(_ tag: UInt32) -> [UInt8]? {
    firstIndex { $0.tag == tag }.map { remove(at: $0).bytes }
  }
}

extension SyncFileField {
  fileprivate static func isKnown(_ tag: UInt32) -> Bool { knownTags.contains(tag) }
}
