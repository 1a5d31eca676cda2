import GodwitBase

/// Origin → the highest contiguous sequence held. An origin that is not listed stands at 0.
///
/// A list in the order of the origins: most have few, and what is done most often to long ones, to read, write and
/// compare them, goes through them once. Finding one takes logarithmic time, adding one that is new linear.
package struct VersionVector: Hashable, Sendable {
  /// How far an origin's transactions are held.
  package struct Entry: Hashable, Sendable {
    package let origin: Origin
    package let sequence: SequenceNumber
  }

  /// Rising by origin, none at 0.
  package private(set) var entries: [Entry]

  /// More origins than any group has; a file that claims more is refused.
  package static let originLimit = 65_536

  package init() { entries = [] }

  package init(_ sequences: [Origin: SequenceNumber]) {
    entries = sequences.filter { $0.value > .none }.map { Entry(origin: $0.key, sequence: $0.value) }
      .sorted { $0.origin < $1.origin }
  }

  private init(rising entries: [Entry]) { self.entries = entries }

  package subscript(origin: Origin) -> SequenceNumber {
    get {
      let place = place(of: origin)
      return place < entries.count && entries[place].origin == origin ? entries[place].sequence : .none
    }
    set {
      let place = place(of: origin)
      let isListed = place < entries.count && entries[place].origin == origin
      switch (isListed, newValue > .none) {
      case (true, true): entries[place] = Entry(origin: origin, sequence: newValue)
      case (true, false): entries.remove(at: place)
      case (false, true): entries.insert(Entry(origin: origin, sequence: newValue), at: place)
      case (false, false): break
      }
    }
  }

  /// Where an origin stands, or would.
  private func place(of origin: Origin) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].origin < origin { low = middle + 1 } else { high = middle }
    }
    return low
  }

  package var isEmpty: Bool { entries.isEmpty }
  package var origins: [Origin] { entries.map(\.origin) }

  package func covers(_ dot: Dot) -> Bool { self[dot.origin] >= dot.sequence }

  /// Whether everything in `other` is in this one.
  package func covers(_ other: VersionVector) -> Bool {
    guard other.entries.count > 2 else { return other.entries.allSatisfy { self[$0.origin] >= $0.sequence } }
    var place = 0
    for entry in other.entries {
      while place < entries.count, entries[place].origin < entry.origin { place += 1 }
      guard place < entries.count, entries[place].origin == entry.origin, entries[place].sequence >= entry.sequence
      else {
        return false
      }
    }
    return true
  }

  /// The last origin of which the other has less, and how much this one has; nil where the other covers this one.
  package func last(above other: VersionVector) -> Dot? {
    var place = other.entries.count
    for entry in entries.reversed() {
      while place > 0, other.entries[place - 1].origin > entry.origin { place -= 1 }
      let isListed = place > 0 && other.entries[place - 1].origin == entry.origin
      guard isListed, other.entries[place - 1].sequence >= entry.sequence else {
        return Dot(entry.origin, entry.sequence)
      }
    }
    return nil
  }

  /// The least vector that covers both.
  package func union(_ other: VersionVector) -> VersionVector {
    guard !other.isEmpty else { return self }
    var union: [Entry] = []
    union.reserveCapacity(max(entries.count, other.entries.count))
    var (left, right) = (entries[...], other.entries[...])
    while let a = left.first, let b = right.first {
      if a.origin == b.origin {
        union.append(a.sequence < b.sequence ? b : a)
        left.removeFirst()
        right.removeFirst()
      } else {
        union.append(a.origin < b.origin ? left.removeFirst() : right.removeFirst())
      }
    }
    return VersionVector(rising: union + left + right)
  }

  /// The greatest vector that both cover.
  package func intersection(_ other: VersionVector) -> VersionVector {
    VersionVector(
      rising: pairs(with: other).compactMap { entry, sequence in
        sequence > .none ? Entry(origin: entry.origin, sequence: min(entry.sequence, sequence)) : nil
      })
  }

  /// Leaves what the other covers, too. Takes no memory where both list the same origins, as most in a group do.
  package mutating func formIntersection(_ other: VersionVector) {
    var place = 0
    while place < min(entries.count, other.entries.count), entries[place].origin == other.entries[place].origin {
      if other.entries[place].sequence < entries[place].sequence { entries[place] = other.entries[place] }
      place += 1
    }
    guard place < entries.count else { return }
    let rest = VersionVector(rising: Array(entries[place...]))
    entries.removeSubrange(place...)
    entries += rest.intersection(VersionVector(rising: Array(other.entries[place...]))).entries
  }

  /// The entries that are greater than in `other`.
  package func unseen(by other: VersionVector) -> VersionVector {
    VersionVector(rising: pairs(with: other).compactMap { $1 < $0.sequence ? $0 : nil })
  }

  /// The entries whose origins `other` does not list.
  package func without(_ other: VersionVector) -> VersionVector {
    VersionVector(rising: pairs(with: other).compactMap { $1 == .none ? $0 : nil })
  }

  /// The same with other sequences for some origins; none to leave one out.
  package func replacing(_ changes: [Origin: SequenceNumber]) -> VersionVector {
    guard !changes.isEmpty else { return self }
    return VersionVector(rising: entries.filter { changes[$0.origin] == nil }).union(VersionVector(changes))
  }

  /// What differs from another vector: the places in its list of the origins that have another sequence here, with that
  /// one, and the entries whose origins it lacks.
  package func difference(
    from base: VersionVector
  ) -> (changed: [(place: Int, sequence: SequenceNumber)], further: VersionVector) {
    var changed: [(place: Int, sequence: SequenceNumber)] = []
    var further: [Entry] = []
    var place = 0
    func pass(_ isBefore: (Origin) -> Bool) {
      while place < base.entries.count, isBefore(base.entries[place].origin) {
        changed.append((place, .none))
        place += 1
      }
    }
    for entry in entries {
      pass { $0 < entry.origin }
      guard place < base.entries.count, base.entries[place].origin == entry.origin else {
        further.append(entry)
        continue
      }
      if base.entries[place].sequence != entry.sequence { changed.append((place, entry.sequence)) }
      place += 1
    }
    pass { _ in true }
    return (changed, VersionVector(rising: further))
  }

  /// The vector that differs so from another one.
  package init(
    _ base: VersionVector, changed: [(place: Int, sequence: SequenceNumber)], further: VersionVector
  ) {
    var entries = base.entries
    for (place, sequence) in changed { entries[place] = Entry(origin: entries[place].origin, sequence: sequence) }
    if changed.contains(where: { $0.sequence == .none }) { entries.removeAll { $0.sequence == .none } }
    self = VersionVector(rising: entries).union(further)
  }

  /// The entries, each with where its origin stands in `other`.
  private func pairs(with other: VersionVector) -> [(entry: Entry, other: SequenceNumber)] {
    var place = 0
    return entries.map { entry in
      while place < other.entries.count, other.entries[place].origin < entry.origin { place += 1 }
      let isListed = place < other.entries.count && other.entries[place].origin == entry.origin
      return (entry, isListed ? other.entries[place].sequence : .none)
    }
  }

  package func write(to writer: inout ByteWriter) {
    writer.varint(entries.count)
    for entry in entries {
      entry.origin.write(to: &writer)
      writer.varint(entry.sequence.rawValue)
    }
  }

  package init(reading reader: inout ByteReader) throws {
    let count = try reader.count(limit: Self.originLimit, "origins in a version vector")
    var entries: [Entry] = []
    // Each takes 21 bytes at least.
    entries.reserveCapacity(min(count, reader.remaining / 21))
    for _ in 0..<count {
      let origin = try Origin(reading: &reader)
      if let last = entries.last, last.origin >= origin {
        throw ByteReader.malformed("a version vector is not in order")
      }
      entries.append(Entry(origin: origin, sequence: try SequenceNumber(reading: &reader)))
    }
    self.entries = entries
  }

  /// Demands of a context that it leaves out its transaction's own origin, as all do (Specs/change-log.md, "Context"):
  /// one that names it could wait for itself. Throws `corruptFile`.
  package func expectOthers(than origin: Origin) throws {
    guard self[origin] == .none else { throw ByteReader.malformed("a context that names its own origin") }
  }
}

extension Sequence<VersionVector> {
  /// The greatest vector that all of them cover; nil where there is none of them.
  package func intersection() -> VersionVector? {
    reduce(into: nil) { common, vector in
      if common == nil { common = vector } else { common?.formIntersection(vector) }
    }
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
