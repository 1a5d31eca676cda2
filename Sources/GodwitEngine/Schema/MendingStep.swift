import Foundation
import GodwitBase
import GodwitCore
import GodwitModel

/// The step of a migration that makes a table what its model declares, as Swift that a program can take over.
struct MendingStep {
  private let table: TableDefinition
  private let differences: [TableDifference]

  init(_ table: TableDefinition, _ differences: [TableDifference]) {
    self.table = table
    self.differences = differences
  }

  /// `$0.alter("note") { $0.add("stars", Int.self, default: 0) }`; nil where no step can do it, such as another key.
  var swift: String? {
    var calls: [String] = []
    var scope: String?
    for difference in differences {
      switch difference {
      case .missingColumn(let column): calls.append(Self.adding(column))
      case .extraColumn(let column): calls.append("$0.drop(\(Self.literal(column.name)))")
      case .changedColumn(let column, let stored, _):
        guard let call = Self.changing(stored, to: column) else { return nil }
        calls.append(call)
      case .missingIndex(let index, _, _): calls.append(Self.adding(index))
      case .extraIndex(let index, _): calls.append("$0.dropIndex(\(Self.list(index.columns)))")
      case .otherScope(let isSynced):
        scope = "$0.\(isSynced ? "startSync" : "stopSync")(of: \(Self.literal(table.name)))"
      case .changed: return nil
      }
    }
    guard !calls.isEmpty else { return scope }
    let alteration = "$0.alter(\(Self.literal(table.name))) { \(calls.joined(separator: "; ")) }"
    return scope.map { "\(alteration); \($0)" } ?? alteration
  }

  private static func adding(_ column: ColumnDefinition) -> String {
    var call = "$0.add(\(literal(column.name)), \(type(of: column)).self"
    if !column.isNullable, !column.merge.isContributed { call += ", default: \(neutral(column))" }
    if let check = column.check { call += ", check: \(literal(check))" }
    if let reference = column.reference {
      call += ", references: \(literal(reference.table)), onDelete: .\(reference.onDelete)"
      if reference.isAcyclic { call += ", acyclic: true" }
    }
    if let policy = policy(column.merge) { call += ", merge: \(policy)" }
    return call + ")"
  }

  /// Nil for what a migration does not change: the name's capitals, what a column refers to, how it is merged.
  private static func changing(_ stored: ColumnDefinition, to column: ColumnDefinition) -> String? {
    guard stored.name == column.name, stored.reference == column.reference, stored.merge == column.merge else {
      return nil
    }
    var call = "$0.change(\(literal(column.name)), \(type(of: column)).self"
    if !column.isNullable { call += ", default: \(neutral(column))" }
    if let check = column.check { call += ", check: \(literal(check))" }
    if !Conversion.widens(stored.type, to: column.type) {
      let cast = "CAST(\(SQLName.quoted(column.name)) AS \("\(column.type)".uppercased()))"
      call += ", by: \(literal(cast))"
    }
    return call + ")"
  }

  private static func adding(_ index: IndexDefinition) -> String {
    "$0.addIndex(\(list(index.columns))\(index.isUnique ? ", unique: true" : ""))"
  }

  /// A type that is stored in such a column; the property's own may be another one of the kind.
  private static func type(of column: ColumnDefinition) -> String {
    if column.merge == .addWinsSet { return "Set<String>" }
    let name =
      switch column.type {
      case .integer: "Int"
      case .real, .any: "Double"
      case .text: "String"
      case .blob: "Data"
      }
    return column.isNullable ? "\(name)?" : name
  }

  private static func neutral(_ column: ColumnDefinition) -> String {
    switch column.defaultValue {
    case .integer(let number)?: "\(number)"
    case .real(let number)?: "\(number)"
    case .text(let text)?: literal(text)
    case .blob, .null, nil:
      switch column.type {
      case .integer, .real, .any: "0"
      case .text: "\"\""
      case .blob: "Data()"
      }
    }
  }

  private static func policy(_ policy: MergePolicy) -> String? {
    switch policy {
    case .lastWriterWins: nil
    case .counter, .addWinsSet, .maximum, .minimum: ".\(policy.name)"
    case .custom: ".custom(…)"
    }
  }

  private static func list(_ names: [String]) -> String { names.map(literal).joined(separator: ", ") }

  private static func literal(_ text: String) -> String {
    "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
  }
}
