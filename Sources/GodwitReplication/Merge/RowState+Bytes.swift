import GodwitBase

/// Numbers origins within one database, so that row state need not repeat 20 bytes for each.
package protocol OriginNumbering {
  func number(of origin: Origin) throws -> Int
  func origin(numbered number: Int) throws -> Origin
}

extension RowState {
  private struct Parts: OptionSet {
    let rawValue: Int
    static let base = Parts(rawValue: 1)
    static let overrides = Parts(rawValue: 2)
    /// Inserts and updates, when they do not follow from base and overrides.
    static let touches = Parts(rawValue: 4)
    static let deletes = Parts(rawValue: 8)
    static let image = Parts(rawValue: 16)
    static let settled = Parts(rawValue: 32)
    static let contributions = Parts(rawValue: 64)
    static let masks = Parts(rawValue: 128)
    static let carried = Parts(rawValue: 256)
    static let moves = Parts(rawValue: 512)
    /// Cells, updates and contributions that followed a move.
    static let followed = Parts(rawValue: 1_024)
  }

  private var impliedInserts: VersionVector {
    base.map { VersionVector([$0.dot.origin: $0.dot.sequence]) } ?? VersionVector()
  }

  private var impliedUpdates: VersionVector {
    overrides.values.reduce(into: VersionVector()) { $0[$1.dot.origin] = max($0[$1.dot.origin], $1.dot.sequence) }
  }

  /// Of all its cells.
  package var contributionCount: Int { contributions.values.reduce(0) { $0 + $1.count } }

  private var parts: Parts {
    var parts: Parts = []
    if base != nil { parts.insert(.base) }
    if !overrides.isEmpty { parts.insert(.overrides) }
    if inserts != impliedInserts || updates != impliedUpdates { parts.insert(.touches) }
    if !deletes.isEmpty || !removed.isEmpty { parts.insert(.deletes) }
    if image != nil { parts.insert(.image) }
    if isSettled { parts.insert(.settled) }
    if contributions.contains(where: { $0.value.contains { $0.move == nil } }) { parts.insert(.contributions) }
    if !brought.isEmpty || !followed.isEmpty || !gone.isEmpty || contributions.contains(where: { $0.value.contains { $0.move != nil } }) { parts.insert(.followed) }
    if !masks.isEmpty { parts.insert(.masks) }
    if !carried.isEmpty { parts.insert(.carried) }
    if !moves.isEmpty { parts.insert(.moves) }
    return parts
  }

  package func write(to writer: inout ByteWriter, origins: some OriginNumbering) throws {
    let parts = parts
    writer.varint(parts.rawValue)
    try base?.write(to: &writer, origins: origins)
    if parts.contains(.overrides) { try overrides.write(to: &writer, origins: origins) }
    if parts.contains(.touches) {
      try inserts.write(to: &writer, origins: origins)
      try updates.write(to: &writer, origins: origins)
    }
    if parts.contains(.deletes) {
      writer.varint(deletes.count)
      for stamp in deletes.sorted() { try stamp.write(to: &writer, origins: origins) }
      try removed.write(to: &writer, origins: origins)
    }
    if parts.contains(.contributions) { try writeContributions(followed: false, to: &writer, origins: origins) }
    if let image {
      writer.varint(image.count)
      for value in image { writer.value(value) }
    }
    if parts.contains(.masks) {
      writer.varint(masks.count)
      for (column, value) in masks.sorted(by: { $0.key < $1.key }) {
        writer.varint(column)
        writer.value(value)
      }
    }
    if parts.contains(.carried) { try carried.write(to: &writer, origins: origins) }
    if parts.contains(.moves) {
      writer.varint(moves.count)
      // No writer moves a row twice at once, but a file may say so; there is one order even then.
      let written = try moves.map { ($0.stamp, try $0.bytes(origins)) }
      for (_, bytes) in written.sorted(by: { $0.0 != $1.0 ? $0.0 < $1.0 : $0.1.lexicographicallyPrecedes($1.1) }) {
        writer.raw(bytes)
      }
    }
    if parts.contains(.followed) {
      try writeBrought(to: &writer, origins: origins)
      try gone.write(to: &writer, origins: origins)
      writer.varint(followed.count)
      for (move, updates) in followed.sorted(by: { $0.key < $1.key }) {
        try move.write(to: &writer, origins: origins)
        try updates.staying.write(to: &writer, origins: origins)
        try updates.gone.write(to: &writer, origins: origins)
      }
      try writeContributions(followed: true, to: &writer, origins: origins)
    }
  }

  private func writeBrought(to writer: inout ByteWriter, origins: some OriginNumbering) throws {
    writer.varint(brought.count)
    for (column, cells) in brought.sorted(by: { $0.key < $1.key }) {
      writer.varint(column)
      writer.varint(cells.count)
      for (move, cell) in cells.sorted(by: { $0.key < $1.key }) {
        try move.write(to: &writer, origins: origins)
        try cell.stamp.write(to: &writer, origins: origins)
        writer.value(cell.value)
      }
    }
  }

  private func writeContributions(
    followed: Bool, to writer: inout ByteWriter, origins: some OriginNumbering
  ) throws {
    let columns = contributions.mapValues { $0.filter { ($0.move != nil) == followed } }
      .filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
    writer.varint(columns.count)
    for (column, all) in columns {
      writer.varint(column)
      writer.varint(all.count)
      for contribution in all.ordered() {
        try contribution.dot.write(to: &writer, origins: origins)
        writer.value(contribution.value)
        guard followed else { continue }
        writer.varint(contribution.path.count)
        for move in contribution.path { try move.write(to: &writer, origins: origins) }
      }
    }
  }

  /// Throws `limitExceeded` for more contributions than the limit, before they are kept.
  package init(
    reading reader: inout ByteReader, origins: some OriginNumbering, contributionLimit: Int = .max
  ) throws {
    self.init()
    var left = contributionLimit
    let parts = Parts(rawValue: try reader.count(limit: 2_047, "parts of a row state"))
    isSettled = parts.contains(.settled)
    if parts.contains(.base) { base = try CellStamp(reading: &reader, origins: origins) }
    if parts.contains(.overrides) {
      overrides = try [Int: CellStamp](reading: &reader, origins: origins)
    }
    if parts.contains(.touches) {
      inserts = try VersionVector(reading: &reader, origins: origins)
      updates = try VersionVector(reading: &reader, origins: origins)
    } else {
      inserts = impliedInserts
      updates = impliedUpdates
    }
    if parts.contains(.deletes) {
      for _ in 0..<(try reader.count()) { deletes.insert(try CellStamp(reading: &reader, origins: origins)) }
      removed = try VersionVector(reading: &reader, origins: origins)
    }
    if parts.contains(.contributions) {
      try readContributions(followed: false, from: &reader, origins: origins, &left)
    }
    if parts.contains(.image) { 
      let count = try reader.count(limit: min(reader.remaining, TableDefinition.columnLimit), "cells")
      image = try (0..<count).map { _ in try reader.value() }
    }
    if parts.contains(.masks) {
      for _ in 0..<(try reader.count()) { masks[try reader.count()] = try reader.value() }
    }
    if parts.contains(.carried) { carried = try [Int: CellStamp](reading: &reader, origins: origins) }
    if parts.contains(.moves) {
      for _ in 0..<(try reader.count()) {
        let stamp = try CellStamp(reading: &reader, origins: origins)
        let target = Array(try reader.lengthPrefixed())
        let cells = try [Int: CellStamp](reading: &reader, origins: origins)
        let seen = try VersionVector(reading: &reader, origins: origins)
        moves.insert(RowMove(stamp: stamp, target: target, cells: cells, seen: seen))
      }
    }
    if parts.contains(.followed) {
      try readBrought(from: &reader, origins: origins)
      gone = try VersionVector(reading: &reader, origins: origins)
      for _ in 0..<(try reader.count()) {
        let move = try CellStamp(reading: &reader, origins: origins)
        let staying = try VersionVector(reading: &reader, origins: origins)
        followed[move] = FollowedUpdates(staying: staying, gone: try VersionVector(reading: &reader, origins: origins))
      }
      try readContributions(followed: true, from: &reader, origins: origins, &left)
    }
    try reader.expectEnd()
  }

  private mutating func readBrought(from reader: inout ByteReader, origins: some OriginNumbering) throws {
    for _ in 0..<(try reader.count()) {
      let column = try reader.count()
      for _ in 0..<(try reader.count(limit: reader.remaining, "cells that followed moves")) {
        let move = try CellStamp(reading: &reader, origins: origins)
        let stamp = try CellStamp(reading: &reader, origins: origins)
        brought[column, default: [:]][move] = StampedValue(value: try reader.value(), stamp: stamp)
      }
    }
  }

  private mutating func readContributions(
    followed: Bool, from reader: inout ByteReader, origins: some OriginNumbering, _ left: inout Int
  ) throws {
    for _ in 0..<(try reader.count()) {
      let column = try reader.count()
      let number = try reader.count(limit: min(reader.remaining, left), "contributions")
      left -= number
      for _ in 0..<number {
        let (dot, value) = (try Dot(reading: &reader, origins: origins), try reader.value())
        let count = try followed ? reader.count(limit: reader.remaining, "moves") : 0
        let path = try (0..<count).map { _ in try CellStamp(reading: &reader, origins: origins) }
        contributions[column, default: []].append(Contribution(dot: dot, value: value, path: path))
      }
    }
  }
}

extension RowMove {
  fileprivate func bytes(_ origins: some OriginNumbering) throws -> [UInt8] {
    var writer = ByteWriter(capacity: 64)
    try stamp.write(to: &writer, origins: origins)
    writer.lengthPrefixed(target)
    try cells.write(to: &writer, origins: origins)
    try seen.write(to: &writer, origins: origins)
    return writer.bytes
  }
}

/// Stamps by column number.
extension [Int: CellStamp] {
  fileprivate func write(to writer: inout ByteWriter, origins: some OriginNumbering) throws {
    writer.varint(count)
    for (column, stamp) in sorted(by: { $0.key < $1.key }) {
      writer.varint(column)
      try stamp.write(to: &writer, origins: origins)
    }
  }

  fileprivate init(reading reader: inout ByteReader, origins: some OriginNumbering) throws {
    self = [:]
    for _ in 0..<(try reader.count()) { self[try reader.count()] = try CellStamp(reading: &reader, origins: origins) }
  }
}

extension VersionVector {
  fileprivate func write(to writer: inout ByteWriter, origins: some OriginNumbering) throws {
    writer.varint(entries.count)
    for origin in self.origins { try Dot(origin, self[origin]).write(to: &writer, origins: origins) }
  }

  fileprivate init(reading reader: inout ByteReader, origins: some OriginNumbering) throws {
    var sequences: [Origin: SequenceNumber] = [:]
    for _ in 0..<(try reader.count()) {
      let dot = try Dot(reading: &reader, origins: origins)
      sequences[dot.origin] = dot.sequence
    }
    self.init(sequences)
  }
}

extension Dot {
  fileprivate func write(to writer: inout ByteWriter, origins: some OriginNumbering) throws {
    writer.varint(try origins.number(of: origin))
    writer.varint(sequence.rawValue)
  }

  fileprivate init(reading reader: inout ByteReader, origins: some OriginNumbering) throws {
    let origin = try origins.origin(numbered: try reader.count())
    self.init(origin, SequenceNumber(rawValue: try reader.varint()))
  }
}

extension CellStamp {
  fileprivate func write(to writer: inout ByteWriter, origins: some OriginNumbering) throws {
    try dot.write(to: &writer, origins: origins)
    writer.bigEndian(hlc.rawValue)
  }

  fileprivate init(reading reader: inout ByteReader, origins: some OriginNumbering) throws {
    let dot = try Dot(reading: &reader, origins: origins)
    self.init(hlc: HLC(rawValue: try reader.bigEndian()), dot: dot)
  }
}
