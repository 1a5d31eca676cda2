import GodwitBase

/// Transactions of some origins, of each an unbroken run: what a sync file has.
package struct OriginRanges: Hashable, Sendable {
  package private(set) var ranges: [Origin: ClosedRange<SequenceNumber>]

  package init(_ ranges: [Origin: ClosedRange<SequenceNumber>] = [:]) { self.ranges = ranges }

  /// Of each origin all up to where a vector has it.
  package init(through vector: VersionVector) {
    let first = SequenceNumber.none.next
    self.init(Dictionary(uniqueKeysWithValues: vector.entries.map { ($0.origin, first...$0.sequence) }))
  }

  package subscript(origin: Origin) -> ClosedRange<SequenceNumber>? {
    get { ranges[origin] }
    set { ranges[origin] = newValue }
  }

  /// Whether all of the other's transactions are among these.
  package func covers(_ other: OriginRanges) -> Bool {
    other.ranges.allSatisfy { origin, range in ranges[origin].map { $0.contains(range) } ?? false }
  }

  /// Drops those of other origins.
  package mutating func keep(_ isKept: (Origin) -> Bool) { ranges = ranges.filter { isKept($0.key) } }

  /// Whether both have a transaction.
  package func intersects(_ other: OriginRanges) -> Bool {
    other.ranges.contains { origin, range in ranges[origin]?.overlaps(range) ?? false }
  }

  /// Varint count, then for each, rising by origin: the origin, the first and the last sequence number as varints.
  package func write(to writer: inout ByteWriter) {
    writer.varint(ranges.count)
    for (origin, range) in ranges.sorted(by: { $0.key < $1.key }) {
      origin.write(to: &writer)
      writer.varint(range.lowerBound.rawValue)
      writer.varint(range.upperBound.rawValue)
    }
  }

  package init(reading reader: inout ByteReader) throws {
    let count = try reader.count(limit: VersionVector.originLimit, "ranges")
    self.init()
    for _ in 0..<count {
      let origin = try Origin(reading: &reader)
      let first = SequenceNumber(rawValue: try reader.varint())
      let last = SequenceNumber(rawValue: try reader.varint())
      guard first <= last else { throw ByteReader.malformed("a range that ends before it begins") }
      ranges[origin] = first...last
    }
  }
}

/// The transactions that several files have together.
package struct JoinedRanges: Sendable {
  private let ranges: [Origin: [ClosedRange<SequenceNumber>]]

  package init(_ files: [OriginRanges] = []) {
    var joined: [Origin: [ClosedRange<SequenceNumber>]] = [:]
    for file in files { for (origin, range) in file.ranges { joined[origin, default: []].append(range) } }
    ranges = joined
  }

  /// The last transaction that follows a given one among all of these without a gap; that one itself where none does.
  package func end(of origin: Origin, after sequence: SequenceNumber) -> SequenceNumber {
    (ranges[origin] ?? []).sorted { $0.lowerBound < $1.lowerBound }.reduce(sequence) { end, range in
      range.lowerBound <= end.next ? max(end, range.upperBound) : end
    }
  }
}
