/// The SQL of a model's single-row work, written once per model.
package struct ModelStatements: Sendable {
  package let select: String
  package let selectByKey: String
  package let insert: String
  package let insertOrFail: String
  package let deleteByKey: String
  package let count: String
  private let quotedTable: String
  private let quotedColumns: [String]

  init(table: String, columns: [String]) {
    quotedTable = SQLName.quoted(table)
    quotedColumns = columns.map(SQLName.quoted)
    let list = quotedColumns.joined(separator: ", ")
    let key = quotedColumns.first ?? ""
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    select = "SELECT \(list) FROM \(quotedTable)"
    selectByKey = "\(select) WHERE \(key) = ?"
    insert = "INSERT INTO \(quotedTable) (\(list)) VALUES (\(places))"
    // FAIL needs no statement journal, which costs ten times the insert itself; one row has nothing to take back.
    insertOrFail = "INSERT OR FAIL INTO \(quotedTable) (\(list)) VALUES (\(places))"
    deleteByKey = "DELETE FROM \(quotedTable) WHERE \(key) = ?"
    count = "SELECT count(*) FROM \(quotedTable)"
  }

  /// An UPDATE of the named columns by key; the key is the last parameter.
  package func update(columns: [Int], orFail: Bool) -> String {
    let assignments = columns.map { "\(quotedColumns[$0]) = ?" }.joined(separator: ", ")
    return "UPDATE \(orFail ? "OR FAIL " : "")\(quotedTable) SET \(assignments) WHERE \(quotedColumns[0]) = ?"
  }
}
