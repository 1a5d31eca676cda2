import GodwitBase

/// The table of a collection of documents. All of it follows from the names of the table and of its columns, so that an
/// operation shows every replica what to make (Specs/documents.md, "Table").
package enum CollectionTable {
  /// What a member's column holds.
  package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
    case value
    case counter
    case set

    var suffix: String {
      switch self {
      case .value: ""
      case .counter: "$_counter"
      case .set: "$_set"
      }
    }
  }

  package static let prefix = "documents_"
  package static let keyColumn = "_key"
  package static let expiryColumn = "_expires"
  /// Key and expiry.
  package static let ownColumnCount = 2
  /// How many members a document may have, and a collection that a replica adds members to.
  package static let memberLimit = 1_000
  /// How many a collection may have when replicas have added different ones at the same time: what SQLite has room for.
  package static let heldMemberLimit = 1_900

  // MARK: Names

  /// Throws `invalidArgument` for a name that is empty or too long.
  package static func name(of collection: String) throws -> String {
    try checked(prefix + CollectionName.written(collection), collection, "collection")
  }

  /// The collection whose table this is, or nil for other tables.
  package static func collection(of table: String) -> String? {
    guard table.hasPrefix(prefix) else { return nil }
    return CollectionName.read(table.utf8.dropFirst(prefix.utf8.count))
  }

  /// Throws `invalidArgument` for a name that is empty or too long.
  package static func column(of member: String, _ kind: Kind = .value) throws -> String {
    let isOwn = member == keyColumn || member == expiryColumn
    let name = isOwn ? "$\(member)" : CollectionName.written(member)
    return try checked(name + kind.suffix, member, "member")
  }

  /// The member that a column belongs to; nil for key and expiry, and for what is no column of a collection.
  package static func member(of column: String) -> (name: String, kind: Kind)? {
    if column == keyColumn || column == expiryColumn { return nil }
    for kind in [Kind.counter, .set] where column.hasSuffix(kind.suffix) {
      // A member's own name may end so, too; then a `$` stands alone before it.
      if let name = member(written: column.dropLast(kind.suffix.count)) { return (name, kind) }
    }
    return member(written: column[...]).map { ($0, .value) }
  }

  private static func member(written: Substring) -> String? {
    if written == "$" + keyColumn { return keyColumn }
    if written == "$" + expiryColumn { return expiryColumn }
    return CollectionName.read(written.utf8)
  }

  private static func checked(_ written: String, _ name: String, _ what: String) throws -> String {
    guard !name.isEmpty, written.utf8.count <= TableDefinition.nameByteLimit else {
      let limit = TableDefinition.nameByteLimit
      let problem = name.isEmpty ? "is empty" : "has \(written.utf8.count) bytes in SQL, and \(limit) are the limit"
      throw GodwitError(
        .invalidArgument, "the name of a \(what) \(problem)",
        hint: "capital letters count twice there, and others than letters, digits, _, space and - up to nine times")
    }
    return written
  }

  /// Whether a table of this name is a collection's.
  static func isName(_ table: String) -> Bool { table.lowercased().hasPrefix(prefix) }

  // MARK: Definitions

  /// Nil for a name that no column of a collection has.
  package static func column(named name: String) -> ColumnDefinition? {
    switch name {
    case keyColumn: return ColumnDefinition(name: name, type: .text, isNullable: false)
    case expiryColumn: return ColumnDefinition(name: name, type: .any, isNullable: true)
    default: break
    }
    switch member(of: name)?.kind {
    case .value: return ColumnDefinition(name: name, type: .any, isNullable: true)
    case .counter:
      return ColumnDefinition(
        name: name, type: .integer, isNullable: false, defaultValue: .integer(0), merge: .counter)
    case .set:
      return ColumnDefinition(
        name: name, type: .text, isNullable: false, defaultValue: .text("[]"), merge: .addWinsSet)
    case nil: return nil
    }
  }

  /// The table with these member columns behind its own two, or nil when a name is none that a collection can have.
  package static func definition(_ table: String, members: [String] = []) throws -> TableDefinition? {
    let names = [keyColumn, expiryColumn] + members
    let columns = names.compactMap(column(named:))
    guard columns.count == names.count, collection(of: table) != nil else { return nil }
    return try TableDefinition(name: table, keyCount: 1, columns: columns)
  }

  /// Whether the definition is one that follows from its names.
  static func isWellFormed(_ table: TableDefinition) -> Bool {
    collection(of: table.name) != nil && table.keyCount == 1 && table.isSynced && table.indexes.isEmpty
      && !table.numbersKeys && table.deletes == .editWins
      && table.columns.prefix(ownColumnCount).map(\.name) == [keyColumn, expiryColumn]
      && table.columns.allSatisfy { $0 == column(named: $0.name) }
  }
}

extension TableDefinition {
  /// Whether the table is a collection's.
  package var isCollection: Bool { CollectionTable.isName(name) }
}
