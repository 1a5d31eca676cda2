/// The storage class of an encoded value: one byte ahead of its content (Specs/encoding.md, "Values").
@usableFromInline package enum ValueTag {
  @inlinable package static var null: UInt8 { 0 }
  @inlinable package static var integer: UInt8 { 1 }
  @inlinable package static var real: UInt8 { 2 }
  @inlinable package static var text: UInt8 { 3 }
  @inlinable package static var blob: UInt8 { 4 }
}

extension ByteWriter {
  @inlinable package mutating func value(_ value: Value) {
    switch value {
    case .null: byte(ValueTag.null)
    case .integer(let number): integerValue(number)
    case .real(let number): realValue(number)
    case .text(let text): textValue(text)
    case .blob(let bytes): bytes.withUnsafeBytes { bytesValue(ValueTag.blob, $0) }
    }
  }

  @inlinable package mutating func integerValue(_ number: Int64) {
    byte(ValueTag.integer)
    signedVarint(number)
  }

  @inlinable package mutating func realValue(_ number: Double) {
    byte(ValueTag.real)
    bigEndian(number.bitPattern)
  }

  @inlinable package mutating func textValue(_ text: String) {
    let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable {
      bytesValue(ValueTag.text, UnsafeRawBufferPointer($0))
    }
    if isWritten == nil { Array(text.utf8).withUnsafeBytes { bytesValue(ValueTag.text, $0) } }
  }

  @inlinable package mutating func bytesValue(_ tag: UInt8, _ buffer: UnsafeRawBufferPointer) {
    byte(tag)
    varint(buffer.count)
    raw(buffer)
  }
}

extension ByteReader {
  package mutating func value() throws -> Value {
    switch try byte() {
    case ValueTag.null: return .null
    case ValueTag.integer: return .integer(try signedVarint())
    case ValueTag.real:
      let number = Double(bitPattern: try bigEndian(UInt64.self))
      guard !number.isNaN else { throw Self.malformed("a number is NaN") }
      return .real(number)
    case ValueTag.text: return .text(try string())
    case ValueTag.blob: return .blob(Array(try lengthPrefixed()))
    case let tag: throw Self.malformed("unknown storage class \(tag)")
    }
  }

  /// Steps over one value and returns its encoded bytes.
  package mutating func encodedValue() throws -> ArraySlice<UInt8> {
    let start = position
    switch try byte() {
    case ValueTag.null: break
    case ValueTag.integer: _ = try varint()
    case ValueTag.real: _ = try raw(8)
    case ValueTag.text, ValueTag.blob: _ = try lengthPrefixed()
    case let tag: throw Self.malformed("unknown storage class \(tag)")
    }
    return bytes[start..<position]
  }
}
