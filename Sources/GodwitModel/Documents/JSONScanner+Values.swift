import GodwitBase

extension JSONScanner {
  /// The next value as a tree. Names that Unicode holds for the same are one member in it, the later one.
  package mutating func value(depth: Int) throws -> JSON {
    switch try token() {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .string: return .string(String(decoding: try string(), as: UTF8.self))
    case .array:
      var elements: [JSON] = []
      try forEachElement(depth: depth) { scanner in elements.append(try scanner.value(depth: depth + 1)) }
      return .array(elements)
    case .object:
      var members: [String: JSON] = [:]
      var names: Set<[UInt8]> = []
      try forEachMember(depth: depth) { name, scanner in
        try scanner.insert(name, into: &names)
        members[name.text] = try scanner.value(depth: depth + 1)
      }
      return .object(members)
    }
  }

  /// Appends the next value in its one form: without spaces, members in the order of their bytes.
  mutating func canonicalize(to writer: inout ByteWriter, depth: Int) throws {
    switch try token() {
    case .null: writer.raw("null".utf8)
    case .bool(let value): writer.raw((value ? "true" : "false").utf8)
    case .integer(let number): writer.raw("\(number)".utf8)
    case .real(let number): writer.raw("\(number)".utf8)
    case .string: try canonicalizeString(to: &writer)
    case .array: try canonicalizeArray(to: &writer, depth: depth)
    case .object: try canonicalizeObject(to: &writer, depth: depth)
    }
  }

  private mutating func canonicalizeString(to writer: inout ByteWriter) throws {
    try string().withUnsafeBytes { JSONWriter.append($0, to: &writer) }
  }

  /// The bracket is stepped over.
  mutating func canonicalizeArray(to writer: inout ByteWriter, depth: Int) throws {
    writer.byte(UInt8(ascii: "["))
    var isFirst = true
    try forEachElement(depth: depth) { scanner in
      if !isFirst { writer.byte(UInt8(ascii: ",")) }
      isFirst = false
      try scanner.canonicalize(to: &writer, depth: depth + 1)
    }
    writer.byte(UInt8(ascii: "]"))
  }

  /// The brace is stepped over.
  mutating func canonicalizeObject(to writer: inout ByteWriter, depth: Int) throws {
    var members: [(name: [UInt8], text: [UInt8])] = []
    var names: Set<[UInt8]> = []
    try forEachMember(depth: depth) { name, scanner in
      try scanner.insert(name, into: &names)
      var text = ByteWriter(capacity: 32)
      try scanner.canonicalize(to: &text, depth: depth + 1)
      members.append((name.bytes, text.bytes))
    }
    members.sort { $0.name.lexicographicallyPrecedes($1.name) }
    writer.byte(UInt8(ascii: "{"))
    for (index, member) in members.enumerated() {
      if index > 0 { writer.byte(UInt8(ascii: ",")) }
      member.name.withUnsafeBytes { JSONWriter.append($0, to: &writer) }
      writer.byte(UInt8(ascii: ":"))
      writer.raw(member.text)
    }
    writer.byte(UInt8(ascii: "}"))
  }

  // MARK: Members and elements

  /// A member's name as it stands in the text.
  package struct Name {
    let scanner: JSONScanner
    let range: Range<Int>
    let decoded: [UInt8]?

    /// Its bytes, without escapes, where they stand.
    package func withBytes<Output>(_ body: (UnsafeRawBufferPointer) throws -> Output) rethrows -> Output {
      if let decoded { return try decoded.withUnsafeBytes(body) }
      return try body(UnsafeRawBufferPointer(rebasing: scanner.bytes[range]))
    }

    package var bytes: [UInt8] { withBytes { Array($0) } }
    package var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }
    /// An error about it.
    package func failure(_ what: String) -> GodwitError { scanner.failure(what, at: max(0, range.lowerBound - 1)) }
  }

  private func insert(_ name: Name, into names: inout Set<[UInt8]>) throws {
    guard names.insert(name.bytes).inserted else { throw name.failure("has a member twice") }
  }

  /// Calls the body at each value of an object whose brace is stepped over.
  package mutating func forEachMember(depth: Int, _ body: (Name, inout JSONScanner) throws -> Void) throws {
    try checkDepth(depth)
    if take(UInt8(ascii: "}")) { return }
    repeat {
      try expect(UInt8(ascii: "\""))
      let (range, hasEscapes) = try rawString()
      let name = Name(scanner: self, range: range, decoded: hasEscapes ? try unescaped(range) : nil)
      try expect(UInt8(ascii: ":"))
      try body(name, &self)
    } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"))
  }

  private mutating func forEachElement(depth: Int, _ body: (inout JSONScanner) throws -> Void) throws {
    try checkDepth(depth)
    if take(UInt8(ascii: "]")) { return }
    repeat { try body(&self) } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
  }
}
