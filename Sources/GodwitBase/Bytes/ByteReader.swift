/// Reads the primitives of Godwit's formats from untrusted bytes (Specs/encoding.md).
///
/// Every read is checked against the end before anything is allocated. A value that is not in its
/// shortest form is refused, so that equal content has one encoding.
package struct ByteReader: Sendable {
  @usableFromInline package let bytes: ArraySlice<UInt8>
  @usableFromInline package internal(set) var position: Int

  package init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  package init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  @inlinable package var remaining: Int { bytes.endIndex - position }
  @inlinable package var isAtEnd: Bool { position == bytes.endIndex }

  package static func truncated() -> GodwitError {
    GodwitError(.truncatedFile, "the data ends in the middle of a value")
  }

  package static func malformed(_ what: String) -> GodwitError {
    GodwitError(.corruptFile, "malformed data: \(what)")
  }

  @inlinable package mutating func byte() throws -> UInt8 {
    guard position < bytes.endIndex else { throw Self.truncated() }
    defer { position += 1 }
    return bytes[position]
  }

  @inlinable package mutating func varint() throws -> UInt64 {
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      let bits = UInt64(next & 0x7F)
      guard shift < 63 || (shift == 63 && bits <= 1) else { throw Self.malformed("a number is too long") }
      result |= bits << shift
      if next < 0x80 {
        guard next != 0 || shift == 0 else { throw Self.malformed("a number is not in its shortest form") }
        return result
      }
      shift += 7
    }
  }

  /// A varint that counts or measures something: never more than `limit`.
  package mutating func count(limit: Int = Int.max, _ what: String = "count") throws -> Int {
    let value = try varint()
    guard let count = Int(exactly: value), count <= limit else {
      throw GodwitError(.limitExceeded, "\(what) \(value) is over the limit of \(limit)")
    }
    return count
  }

  package mutating func signedVarint() throws -> Int64 {
    let value = try varint()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  @inlinable package mutating func bigEndian<T: FixedWidthInteger>(_ type: T.Type = T.self) throws -> T {
    let size = MemoryLayout<T>.size
    guard remaining >= size else { throw Self.truncated() }
    let value = bytes[position..<position + size].withUnsafeBytes { $0.loadUnaligned(as: T.self) }
    position += size
    return T(bigEndian: value)
  }

  @inlinable package mutating func raw(_ count: Int) throws -> ArraySlice<UInt8> {
    guard count >= 0, remaining >= count else { throw Self.truncated() }
    defer { position += count }
    return bytes[position..<position + count]
  }

  package mutating func lengthPrefixed(limit: Int = Int.max) throws -> ArraySlice<UInt8> {
    try raw(count(limit: limit, "length"))
  }

  package mutating func string(limit: Int = Int.max) throws -> String {
    let slice = try lengthPrefixed(limit: limit)
    guard let text = String(validating: slice, as: UTF8.self) else {
      throw Self.malformed("text is not UTF-8")
    }
    return text
  }

  package func expectEnd() throws {
    guard isAtEnd else { throw Self.malformed("\(remaining) bytes too many") }
  }
}
