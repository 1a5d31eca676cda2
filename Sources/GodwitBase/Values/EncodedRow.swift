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
      if isRequired, row[position] == ValueTag.null { return true }
      guard skip(row, &position) else { return false }
    }
    return false
  }

  /// Whether some value is of a storage class that its column's mask names (the bit of its tag), so that the row needs
  /// a closer look; an unsound row does, too.
  package static func needsLook(_ masks: [UInt8], _ row: UnsafeRawBufferPointer) -> Bool {
    var position = 0
    for mask in masks {
      guard position < row.count else { return false }
      let tag = row[position]
      guard tag < 8, mask & (1 << tag) == 0, skip(row, &position) else { return true }
    }
    return false
  }

  /// Steps over the value at a place in the row; false where it can be none.
  private static func skip(_ row: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
    let tag = row[position]
    position += 1
    switch tag {
    case ValueTag.null: break
    case ValueTag.integer: _ = varint(row, &position)
    case ValueTag.real: position += 8
    case ValueTag.text, ValueTag.blob:
      let count = varint(row, &position)
      guard count <= UInt64(row.count) else { return false }
      position += Int(count)
    default: return false
    }
    return true
  }

  /// Most texts are ASCII, which is quicker to see, eight bytes at a time.
  package static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    isASCII(bytes) || String(validating: bytes, as: UTF8.self) != nil
  }

  private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var position = 0
    while bytes.count - position >= 8 {
      let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      guard word & 0x8080_8080_8080_8080 == 0 else { return false }
      position += 8
    }
    while position < bytes.count {
      guard bytes[position] < 0x80 else { return false }
      position += 1
    }
    return true
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
