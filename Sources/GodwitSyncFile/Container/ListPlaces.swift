import GodwitBase

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
