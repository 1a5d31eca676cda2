import GodwitCore

/// How far each origin's range has been read: sequences are implied by the header and never repeated in frames.
struct FramePosition {
  private var next: [Origin: SequenceNumber]
  private var last: [Origin: SequenceNumber]

  init(_ ranges: [SyncFileHeader.Range]) {
    next = Dictionary(uniqueKeysWithValues: ranges.map { ($0.origin, $0.first) })
    last = Dictionary(uniqueKeysWithValues: ranges.map { ($0.origin, $0.last) })
  }

  var isAtEnd: Bool { next.allSatisfy { $0.value == last[$0.key]?.next } }

  /// The sequence of the origin's next transaction, or nil when its range is used up.
  mutating func take(_ origin: Origin) -> SequenceNumber? {
    guard let sequence = next[origin], let last = last[origin], sequence <= last else { return nil }
    next[origin] = sequence.next
    return sequence
  }
}
