import GodwitBase

/// Origin → the highest contiguous sequence held. An origin that is not listed stands at 0.
package struct VersionVector: Hashable, Sendable {
  package private(set) var entries: [Origin: SequenceNumber]

  /// More origins than any group has; a file that claims more is refused.
  package static let originLimit = 65_536

  package init(_ entries: [Origin: SequenceNumber] = [:]) { self.entries = entries.filter { $0.value > .none } }

  package subscript(origin: Origin) -> SequenceNumber {
    get { entries[origin] ?? .none }
    set { entries[origin] = newValue > .none ? newValue : nil }
  }

  package var isEmpty: Bool { entries.isEmpty }
  package var origins: [Origin] { entries.keys.sorted() }

  package func covers(_ dot: Dot) -> Bool { self[dot.origin] >= dot.sequence }

  /// Whether everything in `other` is in this one.
  package func covers(_ other: VersionVector) -> Bool { other.entries.allSatisfy { self[$0.key] >= $0.value } }

  /// The least vector that covers both.
  package func union(_ other: VersionVector) -> VersionVector {
    VersionVector(entries.merging(other.entries) { max($0, $1) })
  }

  /// The greatest vector that both cover.
  package func intersection(_ other: VersionVector) -> VersionVector {
    VersionVector(entries.reduce(into: [:]) { $0[$1.key] = min($1.value, other[$1.key]) })
  }

  package func write(to writer: inout ByteWriter) {
    writer.varint(entries.count)
    for origin in origins {
      origin.write(to: &writer)
      writer.varint(self[origin].rawValue)
    }
  }

  package init(reading reader: inout ByteReader) throws {
    let count = try reader.count(limit: Self.originLimit, "origins in a version vector")
    var entries: [Origin: SequenceNumber] = [:]
    var previous: Origin?
    for _ in 0..<count {
      let origin = try Origin(reading: &reader)
      if let previous, previous >= origin { throw ByteReader.malformed("a version vector is not in order") }
      previous = origin
      entries[origin] = try SequenceNumber(reading: &reader)
    }
    self.entries = entries
  }
}

extension SequenceNumber {
  /// Reads a sequence from untrusted bytes: 1 … `limit`.
  package init(reading reader: inout ByteReader) throws {
    let value = SequenceNumber(rawValue: try reader.varint())
    guard value > .none, value < .limit else { throw ByteReader.malformed("sequence \(value.rawValue)") }
    self = value
  }
}
