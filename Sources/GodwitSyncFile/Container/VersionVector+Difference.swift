import GodwitBase
import GodwitCore

/// A vector as what differs from another one (Specs/sync-file.md, "Differences of vectors").
extension VersionVector {
  func write(to writer: inout ByteWriter, besides base: VersionVector) {
    let (changed, further) = difference(from: base)
    writer.places(changed.map(\.place))
    for (_, sequence) in changed { writer.varint(sequence.rawValue) }
    further.write(to: &writer)
  }

  /// In the one form that there is: nothing is listed that the base has.
  init(reading reader: inout ByteReader, besides base: VersionVector) throws {
    let changed = try reader.places(below: base.entries.count).map { place in
      let sequence = SequenceNumber(rawValue: try reader.varint())
      guard sequence < .limit, sequence != base.entries[place].sequence else {
        throw ByteReader.malformed("a difference")
      }
      return (place: place, sequence: sequence)
    }
    let further = try VersionVector(reading: &reader)
    guard further.origins.allSatisfy({ base[$0] == .none }) else { throw ByteReader.malformed("a further origin") }
    self.init(base, changed: changed, further: further)
    guard entries.count <= Self.originLimit else { throw ByteReader.malformed("a vector of too many origins") }
  }
}

// Numbers of elements in a list, from 0 and rising (Specs/sync-file.md, "Acknowledgements").

extension ByteWriter {
  /// Rising places in a list.
  mutating func places(_ places: [Int]) {
    varint(places.count)
    var next = 0
    for place in places {
      varint(place - next)
      next = place + 1
    }
  }
}

extension ByteReader {
  mutating func places(below end: Int) throws -> [Int] {
    let count = try count(limit: end, "places")
    var places: [Int] = []
    var next = 0
    for _ in 0..<count {
      let place = try next + self.count(limit: end - 1 - next, "a place")
      places.append(place)
      next = place + 1
    }
    return places
  }
}
