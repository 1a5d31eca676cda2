import GodwitBase

/// What tables, columns and indexes may be called, whoever names them (Specs/encoding.md, "Names").
///
/// Such a name has no mark that SQL quotes by and nothing that a terminal acts on or does not show. SQLite 3.15 writes
/// past the end of its memory for a name that begins with a quote.
package enum SchemaName {
  package static let byteLimit = 128
  /// What a person who has to choose another name should know.
  package static let hint = "names have letters, digits, _, space and - of any script, 1 to 128 bytes"

  /// Throws `invalidSchema` for what is no table's name.
  package static func checkTable(_ name: String) throws {
    try check(name, "table", isOfCollection: CollectionTable.isName(name))
  }

  /// Throws `invalidSchema` for what is no name of a column of the table.
  package static func checkColumn(_ name: String, of table: String) throws {
    try check(name, "column", isOfCollection: CollectionTable.isName(table))
  }

  /// Throws `invalidSchema` that says which character is none of a name's.
  ///
  /// - Parameter isOfCollection: Whether the name is one that Godwit makes for documents, which may have a `$`.
  package static func check(_ name: String, _ what: String, isOfCollection: Bool = false) throws {
    guard let problem = problem(of: name, isOfCollection: isOfCollection) else { return }
    throw GodwitError(.invalidSchema, "the \(what) name \(shown(name)) \(problem)", hint: hint)
  }

  /// Why the text is no name; nil when it is one.
  package static func problem(of name: String, isOfCollection: Bool = false) -> String? {
    if name.isEmpty { return "is empty" }
    guard name.utf8.count <= byteLimit else { return "has \(name.utf8.count) bytes, and \(byteLimit) are the limit" }
    for scalar in name.unicodeScalars where !isPart(scalar) {
      if isOfCollection, scalar == "$" { continue }
      return "holds \(code(of: scalar)), which is no letter, digit, _, space or -"
    }
    return nil
  }

  /// Whether names may hold the character. Those that show nothing are no part of a name, also where Unicode counts
  /// them among letters and marks.
  private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return isPart(UInt8(scalar.value)) }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
      return !scalar.properties.isDefaultIgnorableCodePoint
    default: return false
    }
  }

  /// The same of an ASCII character.
  static func isPart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: " "), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// Whether the text can be shown to people as it is: what migrations and their data steps are called.
  static func isTitle(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= byteLimit
      && text.unicodeScalars.allSatisfy { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: !scalar.properties.isDefaultIgnorableCodePoint
        }
      }
  }

  /// The name as a message can hold it: what is no part of names by its number, and no more than a name may have.
  static func shown(_ name: String) -> String {
    let scalars = name.unicodeScalars.prefix(byteLimit)
    return "\"" + scalars.map { isPart($0) || $0 == "$" ? String($0) : "<\(code(of: $0))>" }.joined() + "\""
  }

  private static func code(of scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}

extension ByteReader {
  /// Reads the name of a table. Throws `invalidSchema` for what is no name.
  mutating func tableName() throws -> String {
    let name = try string(limit: SchemaName.byteLimit)
    try SchemaName.checkTable(name)
    return name
  }

  /// Reads the name of a column of a table. Throws `invalidSchema` for what is no name.
  mutating func columnName(of table: String) throws -> String {
    let name = try string(limit: SchemaName.byteLimit)
    try SchemaName.checkColumn(name, of: table)
    return name
  }
}
