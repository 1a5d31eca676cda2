/// Names of tables and columns as SQL identifiers.
package enum SQLName {
  /// The name between double quotes, so that it can never be read as anything but a name.
  package static func quoted(_ name: String) -> String { name.enclosed(in: "\"") }

  /// The name of a column where an expression may stand. Between double quotes SQLite takes a name that no column has
  /// for a text (sqlite.org/quirks.html, section 8); between grave accents that is an error.
  package static func column(_ name: String) -> String { name.enclosed(in: "`") }
}

extension String {
  /// The text between two marks, those inside it doubled. SQLite looks at bytes: a mark with an accent upon it is one
  /// character to Swift, and still a mark to SQLite.
  func enclosed(in mark: Unicode.Scalar) -> String {
    let ends = String(mark)
    // Every query names columns, and hardly any name has a mark inside. The marks are ASCII, so bytes suffice.
    guard utf8.contains(where: { UInt32($0) == mark.value }) else { return ends + self + ends }
    let pieces = unicodeScalars.split(separator: mark, omittingEmptySubsequences: false)
    return ends + pieces.map(String.init).joined(separator: ends + ends) + ends
  }
}
