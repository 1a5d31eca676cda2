import GodwitBase

/// The hash of one table's rows as a sum over their cells, so that a change costs what it changes
/// (Specs/state-hash.md). Everything is known by name, so that it is the same on every replica of a group.
package struct TableHash: Sendable {
  @usableFromInline struct Column: Sendable {
    @usableFromInline let seed: UInt64
    /// The hash of the value that counts for nothing.
    @usableFromInline let unset: UInt64

    @usableFromInline init(seed: UInt64, unset: UInt64) {
      self.seed = seed
      self.unset = unset
    }
  }

  @usableFromInline let keyCount: Int
  @usableFromInline let keySeed: UInt64
  /// Those beside the key.
  @usableFromInline let columns: [Column]

  /// A row's key, hashed; what the cells of the row are mixed with.
  package struct Key: Sendable {
    @usableFromInline let hash: UInt64
    @usableFromInline let other: UInt64

    @usableFromInline init(_ hash: UInt64) {
      self.hash = hash
      other = FoldedMultiply.mix(hash ^ FoldedMultiply.secret2, FoldedMultiply.secret3)
    }
  }

  package init(_ table: TableDefinition, of group: GroupID) {
    var writer = ByteWriter(capacity: 16)
    group.value.write(to: &writer)
    let seed = writer.bytes.withUnsafeBytes { FoldedMultiply.hash($0, seed: 0) }
    let tableSeed = Self.seed(of: table.name, within: seed)
    keyCount = table.keyCount
    keySeed = FoldedMultiply.prepared(tableSeed)
    columns = table.columns.dropFirst(table.keyCount).map { column in
      let seed = FoldedMultiply.prepared(Self.seed(of: column.name, within: tableSeed))
      return Column(seed: seed, unset: Self.hash(of: column.defaultValue ?? .null, seed: seed))
    }
  }

  private static func seed(of name: String, within seed: UInt64) -> UInt64 {
    Array(name.utf8).withUnsafeBytes { FoldedMultiply.hash($0, seed: seed) }
  }

  // MARK: Values

  /// Distinguishes storage classes: 1, 1.0 and "1" are three values.
  @inlinable static func classed(_ seed: UInt64, _ tag: UInt8) -> UInt64 {
    seed ^ (UInt64(tag) &* 0x9e37_79b9_7f4a_7c15)
  }

  private static func hash(of value: Value, seed: UInt64) -> UInt64 {
    var writer = ByteWriter(capacity: 24)
    writer.value(value)
    var place = 0
    return writer.bytes.withUnsafeBytes { encodedHash($0, &place, seed: seed) }
  }

  /// Hashes the encoded value at a place, and moves the place behind it. The bytes have been checked before.
  @inlinable static func encodedHash(_ bytes: UnsafeRawBufferPointer, _ place: inout Int, seed: UInt64) -> UInt64 {
    guard place < bytes.count else { return 0 }
    let tag = bytes[place]
    place += 1
    let seed = classed(seed, tag)
    switch tag {
    case ValueTag.integer: return FoldedMultiply.hash(number(bytes, &place), prepared: seed)
    case ValueTag.real:
      guard bytes.count - place >= 8 else { return 0 }
      let bits = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      place += 8
      return FoldedMultiply.hash(bits, prepared: seed)
    case ValueTag.text, ValueTag.blob:
      let count = Int(truncatingIfNeeded: varint(bytes, &place))
      guard count >= 0, count <= bytes.count - place else { return 0 }
      let content = UnsafeRawBufferPointer(rebasing: bytes[place..<place + count])
      place += count
      return FoldedMultiply.hash(content, prepared: seed)
    default: return FoldedMultiply.finish(0, 0, seed, 0)
    }
  }

  @inlinable static func number(_ bytes: UnsafeRawBufferPointer, _ place: inout Int) -> UInt64 {
    let value = varint(bytes, &place)
    return value >> 1 ^ (0 &- (value & 1))
  }

  @inlinable package static func varint(_ bytes: UnsafeRawBufferPointer, _ place: inout Int) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while place < bytes.count, shift < 64 {
      let byte = bytes[place]
      place += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { break }
      shift += 7
    }
    return value
  }

  // MARK: Rows

  /// The row's key, which stands at a place in encoded values.
  @inlinable package func key(_ bytes: UnsafeRawBufferPointer, _ place: inout Int) -> Key {
    var seed = keySeed
    for _ in 0..<keyCount { seed = Self.encodedHash(bytes, &place, seed: seed) }
    return Key(seed)
  }

  /// That there is a row.
  @inlinable package func row(_ key: Key) -> StateSum { Self.term(0, key) }

  /// One cell: the next encoded value, which is of this column. A cell that holds its column's default counts for
  /// nothing, so that a column which is added changes no hash.
  @inlinable package func cell(
    _ column: Int, _ key: Key, _ bytes: UnsafeRawBufferPointer, _ place: inout Int
  ) -> StateSum {
    let column = columns[column - keyCount]
    let hash = Self.encodedHash(bytes, &place, seed: column.seed)
    return hash == column.unset ? .zero : Self.term(hash, key)
  }

  @inlinable static func term(_ hash: UInt64, _ key: Key) -> StateSum {
    let product = (hash ^ key.hash).multipliedFullWidth(by: (hash << 29 | hash >> 35) ^ key.other)
    return StateSum(low: product.low, high: product.high)
  }

  /// The cells beside the key, and that there is a row: the values stand one after another. Columns behind the last
  /// value hold their defaults.
  @inlinable package func cells(
    _ key: Key, _ bytes: UnsafeRawBufferPointer, _ place: inout Int
  ) -> StateSum {
    var sum = row(key)
    columns.withUnsafeBufferPointer { columns in
      for index in columns.indices {
        guard place < bytes.count else { return }
        let hash = Self.encodedHash(bytes, &place, seed: columns[index].seed)
        if hash != columns[index].unset { sum += Self.term(hash, key) }
      }
    }
    return sum
  }

  /// A whole row, encoded, key first.
  @inlinable package func row(encoded bytes: UnsafeRawBufferPointer) -> StateSum {
    var place = 0
    let key = key(bytes, &place)
    return cells(key, bytes, &place)
  }

  /// The key of a row, encoded.
  package func key(_ bytes: ArraySlice<UInt8>) -> Key {
    var place = 0
    return bytes.withUnsafeBytes { key($0, &place) }
  }

  /// The row of a key and the values beside it.
  package func row(_ key: ArraySlice<UInt8>, _ values: some Sequence<Value>) -> StateSum {
    var writer = ByteWriter(capacity: 64)
    for value in values { writer.value(value) }
    var place = 0
    return writer.bytes.withUnsafeBytes { cells(self.key(key), $0, &place) }
  }

  /// One cell by its value; `column` counts from the key's first.
  package func cell(_ column: Int, _ key: Key, _ value: Value) -> StateSum {
    let hash = Self.hash(of: value, seed: columns[column - keyCount].seed)
    return hash == columns[column - keyCount].unset ? .zero : Self.term(hash, key)
  }
}
