/// Rows of encoded values whose lengths have been checked already.
package enum EncodedRow {
  /// Refuses texts that are not UTF-8 and numbers that are NaN, which no database may hold.
  package static func check(_ row: UnsafeRawBufferPointer) throws {
    var position = 0
    while position < row.count {
      let tag = row[position]
      position += 1
      switch tag {
      case ValueTag.null: break
      case ValueTag.integer: _ = varint(row, &position)
      case ValueTag.real:
        guard row.count - position >= 8 else { throw ByteReader.truncated() }
        let bits = UInt64(bigEndian: row.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        if Double(bitPattern: bits).isNaN { throw ByteReader.malformed("a number is NaN") }
        position += 8
      case ValueTag.text, ValueTag.blob:
        let count = Int(clamping: varint(row, &position))
        guard count <= row.count - position else { throw ByteReader.truncated() }
        let bytes = UnsafeRawBufferPointer(rebasing: row[position..<position + count])
        if tag == ValueTag.text, !isUTF8(bytes) { throw ByteReader.malformed("a text is not UTF-8") }
        position += count
      default: throw ByteReader.malformed("unknown storage class \(tag)")
      }
    }
  }

  /// Whether a row has NULL where a value is required. The row may be unsound; ``check(_:)`` says so.
  package static func lacks(_ required: [Bool], _ row: UnsafeRawBufferPointer) -> Bool {
    var position = 0
    for isRequired in required {
      guard position < row.count else { return false }
      let tag = row[position]
      position += 1
      switch tag {
      case ValueTag.null: if isRequired { return true }
      case ValueTag.integer: _ = varint(row, &position)
      case ValueTag.real: position += 8
      case ValueTag.text, ValueTag.blob:
        let count = varint(row, &position)
        guard count <= UInt64(row.count) else { return false }
        position += Int(count)
      default: return false
      }
    }
    return false
  }

  /// Most texts are ASCII, which is quicker to see.
  package static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
  }

  private static func varint(_ row: UnsafeRawBufferPointer, _ position: inout Int) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while position < row.count, shift < 64 {
      let byte = row[position]
      position += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { break }
      shift += 7
    }
    return value
  }
}
