extension JSONScanner {
  /// Appends the next value in its one form: without spaces, members in the order of their bytes.
  package mutating func canonicalize(to writer: inout ByteWriter, depth: Int) throws {
    switch try token() {
    case .null: writer.raw("null".utf8)
    case .bool(let value): writer.raw((value ? "true" : "false").utf8)
    case .integer(let number): writer.raw("\(number)".utf8)
    case .real(let number): JSONWriter.append(number, to: &writer)
    case .string: try canonicalizeString(to: &writer)
    case .array: try canonicalizeArray(to: &writer, depth: depth)
    case .object: try canonicalizeObject(to: &writer, depth: depth)
    }
  }

  private mutating func canonicalizeString(to writer: inout ByteWriter) throws {
    try string().withUnsafeBytes { JSONWriter.append($0, to: &writer) }
  }

  /// The bracket is stepped over.
  package mutating func canonicalizeArray(to writer: inout ByteWriter, depth: Int) throws {
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
  package mutating func canonicalizeObject(to writer: inout ByteWriter, depth: Int) throws {
    var members: [(name: [UInt8], text: [UInt8])] = []
    var names = MemberNames()
    try forEachMember(depth: depth) { name, scanner in
      try names.insert(name)
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

  /// Calls the body at each element of an array whose bracket is stepped over.
  package mutating func forEachElement(depth: Int, _ body: (inout JSONScanner) throws -> Void) throws {
    try checkDepth(depth)
    if take(UInt8(ascii: "]")) { return }
    repeat { try body(&self) } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
  }
}

/// The names in one object. None comes twice, and no two are the same to Unicode, which dictionaries go by.
package struct MemberNames {
  private var bytes: Set<[UInt8]> = []
  /// Those that have other forms.
  private var texts: Set<String> = []

  package init() {}

  /// Throws `invalidDocument` for one that is there already.
  package mutating func insert(_ name: JSONScanner.Name) throws {
    let new = name.bytes
    guard bytes.insert(new).inserted else { throw name.failure("has a member twice") }
    try insertForm(of: name)
  }

  /// Notes a name that is known to be none of those that came before, byte by byte.
  package mutating func insertForm(of name: JSONScanner.Name) throws {
    guard name.withBytes({ $0.contains(where: Self.hasOtherForms) }), !texts.insert(name.text).inserted else { return }
    throw name.failure("has a member twice, in two forms that are the same to Unicode")
  }

  /// Of ASCII only what the Greek question mark, the Greek varia and the Kelvin sign are the same as.
  private static func hasOtherForms(_ byte: UInt8) -> Bool {
    byte >= 0x80 || byte == UInt8(ascii: ";") || byte == UInt8(ascii: "`") || byte == UInt8(ascii: "K")
  }
}
