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
    static let hiddenCells = Parts(rawValue: 16)
    static let stable = Parts(rawValue: 32)
    static let contributions = Parts(rawValue: 64)
    static let hiddenReferences = Parts(rawValue: 128)
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
    if hiddenCells != nil { parts.insert(.hiddenCells) }
    if isStable { parts.insert(.stable) }
    if contributions.contains(where: { !$0.value.isEmpty }) { parts.insert(.contributions) }
    if !hiddenReferences.isEmpty { parts.insert(.hiddenReferences) }
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
    if parts.contains(.contributions) { try writeContributions(to: &writer, origins: origins) }
    if let hiddenCells {
      writer.varint(hiddenCells.count)
      for value in hiddenCells { writer.value(value) }
    }
    if parts.contains(.hiddenReferences) {
      writer.varint(hiddenReferences.count)
      for (column, value) in hiddenReferences.sorted(by: { $0.key < $1.key }) {
        writer.varint(column)
        writer.value(value)
      }
    }
  }

  private func writeContributions(to writer: inout ByteWriter, origins: some OriginNumbering) throws {
    let columns = contributions.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
    writer.varint(columns.count)
    for (column, all) in columns {
      writer.varint(column)
      writer.varint(all.count)
      for contribution in all.ordered() {
        try contribution.dot.write(to: &writer, origins: origins)
        writer.value(contribution.value)
      }
    }
  }

  /// Throws `limitExceeded` for more contributions than the limit, before they are kept.
  package init(
    reading reader: inout ByteReader, origins: some OriginNumbering, contributionLimit: Int = .max
  ) throws {
    self.init()
    var left = contributionLimit
    let parts = Parts(rawValue: try reader.count(limit: 255, "parts of a row state"))
    isStable = parts.contains(.stable)
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
    if parts.contains(.contributions) { try readContributions(from: &reader, origins: origins, &left) }
    if parts.contains(.hiddenCells) {
      let count = try reader.count(limit: min(reader.remaining, TableDefinition.columnLimit), "cells")
      hiddenCells = try (0..<count).map { _ in try reader.value() }
    }
    if parts.contains(.hiddenReferences) {
      for _ in 0..<(try reader.count()) { hiddenReferences[try reader.count()] = try reader.value() }
    }
    try reader.expectEnd()
  }

  private mutating func readContributions(
    from reader: inout ByteReader, origins: some OriginNumbering, _ left: inout Int
  ) throws {
    for _ in 0..<(try reader.count()) {
      let column = try reader.count()
      let number = try reader.count(limit: min(reader.remaining, left), "contributions")
      left -= number
      for _ in 0..<number {
        let (dot, value) = (try Dot(reading: &reader, origins: origins), try reader.value())
        contributions[column, default: []].append(Contribution(dot: dot, value: value))
      }
    }
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
