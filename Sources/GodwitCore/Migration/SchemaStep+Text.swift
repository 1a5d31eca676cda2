import GodwitBase

extension SchemaStep {
  /// The step in words, one line for each part of it: what a plan shows and what two histories are compared by.
  package var lines: [String] {
    switch self {
    case .createTable(let table):
      let marks = [
        table.isSynced ? nil : "local", table.numbersKeys ? "numbers its rows" : nil,
        table.deletes == .editWins ? nil : "\(table.deletes)",
      ].compactMap { $0 }
      return ["create table \(table.name)\(marks.isEmpty ? "" : " (\(marks.joined(separator: ", ")))")"]
        + table.columns.enumerated().map { number, column in
          "  column \(column.text)\(number < table.keyCount ? " key" : "")"
        } + table.indexes.map { "  \($0.text)" }
    case .dropTable(let name): return ["drop table \(name)"]
    case .renameTable(let name, let newName): return ["rename table \(name) to \(newName)"]
    case .addColumn(let column, let table, let derivation):
      let source = derivation.map { " from \($0.column)\($0.rule.text(for: column))" } ?? ""
      return ["add column \(column.text) to \(table)\(source)"]
    case .dropColumn(let name, let table): return ["drop column \(name) of \(table)"]
    case .renameColumn(let name, let newName, let table): return ["rename column \(name) of \(table) to \(newName)"]
    case .changeColumn(let column, let table, let rule):
      return ["change column \(column.text) of \(table)\(rule.text(for: column))"]
    case .addIndex(let index, let table): return ["add \(index.text) to \(table)"]
    case .dropIndex(let columns, let table): return ["drop index (\(columns.joined(separator: ", "))) of \(table)"]
    case .setSynced(let isSynced, let table): return ["\(isSynced ? "start" : "stop") sync of \(table)"]
    case .data(let data):
      guard !data.isCode else { return ["data: \(data.name) (code)"] }
      return ["data: \(data.name)", "  SQL with SHA-256 \(Hexadecimal.encode(data.digest))"]
    }
  }

  /// The first line.
  package var summary: String { lines.first ?? "" }
}

extension ColumnDefinition {
  fileprivate var text: String {
    var text = "\(name) \(type)"
    if isNullable { text += " optional" }
    if let defaultValue { text += " default \(defaultValue.text)" }
    if let reference {
      text += " references \(reference.table) (\(reference.onDelete)\(reference.isAcyclic ? ", acyclic" : ""))"
    }
    if merge != .lastWriterWins { text += " merge \(merge.name)" }
    if let check { text += " check (\(check))" }
    return text
  }
}

extension SchemaStep.ValueRule {
  fileprivate func text(for column: ColumnDefinition) -> String {
    switch self {
    case .widen(let type): type == column.type ? "" : " as \(type)"
    case .expression(let text): " by (\(text))"
    }
  }
}

extension IndexDefinition {
  fileprivate var text: String { "\(isUnique ? "unique " : "")index (\(columns.joined(separator: ", ")))" }
}

extension Value {
  fileprivate var text: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): "'\(text)'"
    case .blob(let bytes): "x'\(Hexadecimal.encode(bytes))'"
    }
  }
}
