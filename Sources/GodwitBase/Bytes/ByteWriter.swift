/// Appends the primitives of Godwit's formats to a growing buffer (Specs/encoding.md).
package struct ByteWriter: Sendable {
  @usableFromInline package internal(set) var bytes: [UInt8]

  @inlinable package init(capacity: Int = 0) {
    bytes = []
    if capacity > 0 { bytes.reserveCapacity(capacity) }
  }

  @inlinable package var count: Int { bytes.count }

  @inlinable package mutating func byte(_ value: UInt8) { bytes.append(value) }

  /// LEB128: seven bits a byte, low bits first.
  @inlinable package mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  @inlinable package mutating func varint(_ value: Int) { varint(UInt64(value)) }

  /// Zigzag, so that small negative numbers stay short.
  @inlinable package mutating func signedVarint(_ value: Int64) {
    varint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
  }

  @inlinable package mutating func bigEndian<T: FixedWidthInteger>(_ value: T) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  @inlinable package mutating func raw(_ buffer: UnsafeRawBufferPointer) { bytes.append(contentsOf: buffer) }

  /// For the pieces of which change sets are made: the generic one would copy them element by element.
  @inlinable package mutating func raw(_ value: ArraySlice<UInt8>) { value.withUnsafeBytes { raw($0) } }

  @inlinable package mutating func raw(_ value: some Collection<UInt8>) { bytes.append(contentsOf: value) }

  /// A length as a varint, then the bytes.
  @inlinable package mutating func lengthPrefixed(_ value: some Collection<UInt8>) {
    varint(value.count)
    bytes.append(contentsOf: value)
  }

  @inlinable package mutating func string(_ value: String) {
    var value = value
    value.withUTF8 { buffer in
      varint(buffer.count)
      bytes.append(contentsOf: buffer)
    }
  }

  /// Forgets everything from `count` on; used to take back what a failed statement wrote.
  @inlinable package mutating func truncate(to count: Int) {
    bytes.removeLast(max(0, bytes.count - count))
  }

  /// Lends some of the bytes. Mutating, because a read-only loan would count references.
  @inlinable package mutating func withBytes<Output>(
    _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws -> Output
  ) rethrows -> Output {
    try bytes.withUnsafeMutableBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
  }

  /// Empties the buffer and keeps its memory.
  @inlinable package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}
