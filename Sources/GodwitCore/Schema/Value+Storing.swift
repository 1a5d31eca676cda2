import GodwitBase

/// SQLite keeps some values in another storage class than they have been given in, by the affinity of their column
/// (sqlite.org, "Datatypes In SQLite", 3). A transaction's values are brought into that form before they meet a table,
/// so that a row's key has one encoding and every replica holds the same bytes (Specs/merge.md, "How it is done").
extension Value {
  /// The value as a column of this type keeps it.
  package func stored(as type: ColumnType, isKey: Bool) -> Value {
    switch (type, self) {
    case (.integer, .text(let text)): return Self.number(text) ?? self
    case (.integer, .real(let number)): return Self.integer(number) ?? self
    case (.real, .integer(let number)): return .real(Double(number))
    case (.real, .text(let text)): return Self.number(text).map { $0.stored(as: .real, isKey: false) } ?? self
    // Kept as an integer on the disk, which has no such zero.
    case (.real, .real(let number)) where number == 0: return .real(0)
    case (.text, .integer(let number)): return .text(String(number))
    case (.text, .real(let number)): return .text(number.description)
    // 1 and 1.0 are one key to SQLite, where the column keeps either.
    case (.blob, .real(let number)) where isKey, (.any, .real(let number)) where isKey:
      return Int64(exactly: number).map { .integer($0) } ?? self
    default: return self
    }
  }

  /// A decimal number, with white space around it; nil for any other text.
  private static func number(_ text: String) -> Value? {
    let spaces: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0B, 0x0C, 0x0D]
    var digits = text.utf8[...]
    while let first = digits.first, spaces.contains(first) { digits.removeFirst() }
    while let last = digits.last, spaces.contains(last) { digits.removeLast() }
    let allowed = Set("0123456789+-.eE".utf8)
    guard digits.contains(where: { (0x30...0x39).contains($0) }), digits.allSatisfy(allowed.contains),
      let trimmed = String(digits)
    else { return nil }
    if let integer = Int64(trimmed) { return .integer(integer) }
    guard let number = Double(trimmed) else { return nil }
    return integer(number) ?? .real(number)
  }

  /// SQLite leaves the least integer alone when it comes as a REAL (vdbemem.c, `sqlite3VdbeIntegerAffinity`).
  private static func integer(_ number: Double) -> Value? {
    Int64(exactly: number).flatMap { $0 == .min ? nil : .integer($0) }
  }
}

extension TableDefinition {
  /// The value as a column keeps it.
  package func stored(_ value: Value, in column: Int) -> Value {
    value.stored(as: columns[column].type, isKey: column < keyCount)
  }

  /// Whether the table keeps some of these encoded values, of columns from `first` on, in another form. Most rows have
  /// nothing of a storage class that SQLite would convert.
  package func mayConvert(_ values: ArraySlice<UInt8>, from first: Int = 0) throws -> Bool {
    var reader = ByteReader(values)
    for column in first..<columns.count {
      guard !reader.isAtEnd else { return false }
      let value = try reader.encodedValue()
      guard mayConvert(storageClass: value.first ?? 0, in: column) else { continue }
      var single = ByteReader(value)
      if mayConvert(try single.value(), in: column) { return true }
    }
    return false
  }

  /// For each column the storage classes, as bits of their tags, of which the table may keep a value in another form.
  package var convertibleTags: [UInt8] {
    columns.indices.map { column in
      (0..<8).reduce(0) { mayConvert(storageClass: $1, in: column) ? $0 | 1 << $1 : $0 }
    }
  }

  private func mayConvert(storageClass: UInt8, in column: Int) -> Bool {
    switch columns[column].type {
    case .integer: storageClass == ValueTag.real || storageClass == ValueTag.text
    case .text: storageClass == ValueTag.integer || storageClass == ValueTag.real
    case .real: storageClass != ValueTag.null && storageClass != ValueTag.blob
    default: column < keyCount && storageClass == ValueTag.real
    }
  }

  /// Whether the table keeps this value in another form.
  package func mayConvert(_ value: Value, in column: Int) -> Bool { stored(value, in: column) != value }
}
