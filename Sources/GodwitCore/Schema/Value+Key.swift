import GodwitBase

extension Value {
  /// The value as a key column of a type holds it. To the database 1 and 1.0 are one key; a column of any type, and one
  /// of bytes, keeps either, so that one of them has to be it.
  package func asKey(of type: ColumnType) -> Value {
    switch (type, self) {
    case (.integer, .real(let number)), (.any, .real(let number)), (.blob, .real(let number)):
      Int64(exactly: number).map { .integer($0) } ?? self
    case (.real, .integer(let number)): .real(Double(number))
    default: self
    }
  }
}
