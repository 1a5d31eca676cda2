/// A strict reader of JSON (Specs/documents.md, "JSON") over bytes that the caller keeps in place. The bytes are valid
/// UTF-8. Pure, and linear in them.
package struct JSONScanner {
  package static let depthLimit = 64
  package static let byteLimit = 16 << 20

  package let bytes: UnsafeRawBufferPointer
  package private(set) var position = 0

  package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  // MARK: Errors

  /// An error at a position, by default the one that is read next.
  package func failure(_ what: String, at place: Int? = nil, hint: String? = nil) -> GodwitError {
    let before = bytes.prefix(place ?? position)
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let fault = JSONFault(problem: "the JSON \(what)", line: line, column: before.count - lineStart + 1)
    return GodwitError(.invalidDocument, fault.message, hint: hint, underlying: fault)
  }

  // MARK: Tokens

  @inline(__always) package mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      default: return
      }
    }
  }

  /// The next byte that is no space, or nil at the end.
  @inline(__always) package mutating func peek() -> UInt8? {
    skipSpace()
    return position < bytes.count ? bytes[position] : nil
  }

  /// Steps over the byte when it comes next.
  @inline(__always) package mutating func take(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    position += 1
    return true
  }

  package mutating func expect(_ byte: UInt8) throws {
    guard take(byte) else {
      throw position < bytes.count
        ? failure("has no \(Character(Unicode.Scalar(byte))) where one belongs") : failure("ends too early")
    }
  }

  /// Throws unless only space is left.
  package mutating func expectEnd() throws {
    guard peek() == nil else { throw failure("continues after its end") }
  }

  private mutating func expect(word: StaticString) throws {
    let start = position
    for index in 0..<word.utf8CodeUnitCount {
      guard position < bytes.count, bytes[position] == word.utf8Start[index] else {
        throw failure("has no value where one belongs", at: start)
      }
      position += 1
    }
  }

  /// What the next value is; its quote or bracket, or all of a word or number, is stepped over.
  package enum Token {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string
    case array
    case object
  }

  package mutating func token() throws -> Token {
    guard let first = peek() else { throw failure("ends too early") }
    switch first {
    case UInt8(ascii: "\""):
      position += 1
      return .string
    case UInt8(ascii: "["):
      position += 1
      return .array
    case UInt8(ascii: "{"):
      position += 1
      return .object
    case UInt8(ascii: "n"):
      try expect(word: "null")
      return .null
    case UInt8(ascii: "t"):
      try expect(word: "true")
      return .bool(true)
    case UInt8(ascii: "f"):
      try expect(word: "false")
      return .bool(false)
    case UInt8(ascii: "-"), 0x30...0x39:
      return try number()
    default:
      throw failure("has no value where one belongs")
    }
  }

  /// Whether a value at this depth may hold others.
  func checkDepth(_ depth: Int) throws {
    guard depth < Self.depthLimit else {
      throw failure("is nested deeper than \(Self.depthLimit)", at: max(0, position - 1))
    }
  }
}

// MARK: - Strings and numbers

extension JSONScanner {
  /// The bytes of a string up to its quote, which is stepped over: as they stand in the text, and whether escapes are
  /// among them.
  package mutating func rawString() throws -> (range: Range<Int>, hasEscapes: Bool) {
    let start = position
    // Local, so that the loop keeps them in registers.
    let (bytes, end) = (bytes, bytes.count)
    var place = position
    var hasEscapes = false
    while place < end {
      let byte = bytes[place]
      if byte == UInt8(ascii: "\"") {
        position = place + 1
        return (start..<place, hasEscapes)
      }
      guard byte >= 0x20 else { throw failure("has a control character in a string", at: place) }
      let isEscape = byte == UInt8(ascii: "\\")
      if isEscape { hasEscapes = true }
      place += isEscape ? 2 : 1
    }
    position = end
    throw failure("ends within a string")
  }

  /// The string's bytes, without escapes.
  package mutating func string() throws -> [UInt8] {
    let (range, hasEscapes) = try rawString()
    return hasEscapes ? try unescaped(range) : Array(bytes[range])
  }

  package func unescaped(_ range: Range<Int>) throws -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(range.count)
    var place = range.lowerBound
    while place < range.upperBound {
      guard bytes[place] == UInt8(ascii: "\\") else {
        result.append(bytes[place])
        place += 1
        continue
      }
      let start = place
      place += 2
      switch bytes[start + 1] {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(bytes[start + 1])
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0C)
      case UInt8(ascii: "n"): result.append(0x0A)
      case UInt8(ascii: "r"): result.append(0x0D)
      case UInt8(ascii: "t"): result.append(0x09)
      case UInt8(ascii: "u"): result += Array(String(try scalar(at: &place, from: start, range.upperBound)).utf8)
      default: throw failure("has an escape that JSON does not know", at: start)
      }
    }
    return result
  }

  /// `\uXXXX`, or two of them for a scalar beyond 16 bits; `place` stands behind the `u`.
  private func scalar(at place: inout Int, from start: Int, _ end: Int) throws -> Unicode.Scalar {
    func unit() throws -> UInt32 {
      guard place + 4 <= end else { throw failure("has an escape that is cut short", at: start) }
      var value: UInt32 = 0
      for byte in bytes[place..<place + 4] {
        guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
          throw failure("has an escape that is no number", at: start)
        }
        value = value << 4 | UInt32(digit)
      }
      place += 4
      return value
    }
    let first = try unit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    // An error costs the text before it, and most pairs are whole.
    func unpaired() -> GodwitError { failure("has one half of a surrogate pair", at: start) }
    guard first < 0xDC00, place + 2 <= end, bytes[place] == UInt8(ascii: "\\"), bytes[place + 1] == UInt8(ascii: "u")
    else { throw unpaired() }
    place += 2
    let second = try unit()
    guard (0xDC00..<0xE000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw unpaired() }
    return scalar
  }

  private mutating func digits() -> Int {
    let start = position
    while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
    return position - start
  }

  private func isNext(_ byte: UInt8) -> Bool { position < bytes.count && bytes[position] == byte }

  private mutating func number() throws -> Token {
    let start = position
    let isNegative = isNext(UInt8(ascii: "-"))
    if isNegative { position += 1 }
    let firstDigit = position
    let count = digits()
    guard count == 1 || count > 1 && bytes[firstDigit] != 0x30 else {
      throw failure("has a number that is none", at: start)
    }
    var isInteger = true
    if isNext(UInt8(ascii: ".")) {
      isInteger = false
      position += 1
      guard digits() > 0 else { throw failure("has a number that is none", at: start) }
    }
    if isNext(UInt8(ascii: "e")) || isNext(UInt8(ascii: "E")) {
      isInteger = false
      position += 1
      if isNext(UInt8(ascii: "+")) || isNext(UInt8(ascii: "-")) { position += 1 }
      guard digits() > 0 else { throw failure("has a number that is none", at: start) }
    }
    if isInteger, let integer = integer(firstDigit..<position, isNegative) {
      return isNegative && integer == 0 ? .real(-0.0) : .integer(integer)
    }
    guard !isInteger else { throw failure("has a number beyond 64 bits", at: start, hint: "write it as a string") }
    if let value = shortDecimal(firstDigit..<position) { return Self.token(isNegative ? -value : value) }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    guard let value = Double(text), value.isFinite else {
      throw failure("has a number beyond a double's range", at: start, hint: "write it as a string")
    }
    return Self.token(value)
  }

  private static func token(_ value: Double) -> Token {
    JSONWriter.wholeNumber(value).map { .integer($0) } ?? .real(value)
  }

  /// A number of at most 15 digits without an exponent is the quotient of two numbers that a double holds exactly, and
  /// so is rounded once, as it must be (Clinger, "How to read floating point numbers accurately", 1990). Nil for
  /// others.
  private func shortDecimal(_ range: Range<Int>) -> Double? {
    guard range.count <= 16 else { return nil }
    var digits: Int64 = 0
    var divisor: Int64 = 1
    var hasPoint = false
    for byte in bytes[range] {
      if byte == UInt8(ascii: ".") {
        hasPoint = true
        continue
      }
      guard (0x30...0x39).contains(byte) else { return nil }
      digits = digits * 10 + Int64(byte - 0x30)
      if hasPoint { divisor *= 10 }
    }
    return Double(digits) / Double(divisor)
  }

  /// Nil when it does not fit.
  private func integer(_ range: Range<Int>, _ isNegative: Bool) -> Int64? {
    var value: Int64 = 0
    for byte in bytes[range] {
      let (product, overflows) = value.multipliedReportingOverflow(by: 10)
      let digit = Int64(byte - 0x30)
      let (sum, overflowsToo) = product.addingReportingOverflow(isNegative ? -digit : digit)
      guard !overflows, !overflowsToo else { return nil }
      value = sum
    }
    return value
  }
}
