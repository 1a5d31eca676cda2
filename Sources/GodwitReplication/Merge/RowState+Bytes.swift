import GodwitBase

/// Numbers origins within one database, so that row state need not repeat 20 bytes for each.
package protocol OriginNumbering {
  func number(of origin: Origin) throws -> Int
  func origin(numbered number: Int) throws -> Origin
}

extension RowState {
  private static let hasBase: UInt8 = 1
  private static let hasOverrides: UInt8 = 2
  private static let hasTouches: UInt8 = 4
  private static let hasDeletes: UInt8 = 8
  private static let hasImage: UInt8 = 16

  /// Touches that follow from the stamps are not written.
  private var impliedTouches: VersionVector {
    var implied = VersionVector()
    for stamp in [base].compactMap({ $0 }) + overrides.values {
      implied[stamp.dot.origin] = max(implied[stamp.dot.origin], stamp.dot.sequence)
    }
    return implied
  }

  package func write(to writer: inout ByteWriter, origins: some OriginNumbering) throws {
    let isImplied = touches == impliedTouches
    writer.byte(
      (base == nil ? 0 : Self.hasBase) | (overrides.isEmpty ? 0 : Self.hasOverrides)
        | (isImplied ? 0 : Self.hasTouches) | (deletes.isEmpty ? 0 : Self.hasDeletes)
        | (image == nil ? 0 : Self.hasImage))
    if let base { try base.write(to: &writer, origins: origins) }
    if !overrides.isEmpty {
      writer.varint(overrides.count)
      for (column, stamp) in overrides.sorted(by: { $0.key < $1.key }) {
        writer.varint(column)
        try stamp.write(to: &writer, origins: origins)
      }
    }
    if !isImplied {
      writer.varint(touches.entries.count)
      for origin in touches.origins { try Dot(origin, touches[origin]).write(to: &writer, origins: origins) }
    }
    if !deletes.isEmpty {
      writer.varint(deletes.count)
      for stamp in deletes.sorted() { try stamp.write(to: &writer, origins: origins) }
    }
    if let image {
      writer.varint(image.count)
      for value in image { writer.value(value) }
    }
  }

  package init(reading reader: inout ByteReader, origins: some OriginNumbering) throws {
    self.init()
    let flags = try reader.byte()
    if flags & Self.hasBase != 0 { base = try CellStamp(reading: &reader, origins: origins) }
    if flags & Self.hasOverrides != 0 {
      for _ in 0..<(try reader.count()) {
        overrides[try reader.count()] = try CellStamp(reading: &reader, origins: origins)
      }
    }
    if flags & Self.hasTouches != 0 {
      for _ in 0..<(try reader.count()) {
        let dot = try Dot(reading: &reader, origins: origins)
        touches[dot.origin] = dot.sequence
      }
    } else {
      touches = impliedTouches
    }
    if flags & Self.hasDeletes != 0 {
      for _ in 0..<(try reader.count()) { deletes.insert(try CellStamp(reading: &reader, origins: origins)) }
    }
    if flags & Self.hasImage != 0 { image = try (0..<(try reader.count())).map { _ in try reader.value() } }
    try reader.expectEnd()
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
