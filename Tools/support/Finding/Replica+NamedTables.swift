import Godwit

/// Commands take a collection's name where they take a table's: who has put documents knows no other.
extension Replica {
  /// The table with a name, or that of the collection with it.
  ///
  /// - Throws: `notInSchema` when there is neither.
  package func table(orCollection name: String) async throws -> TableDescription {
    do {
      return try await tables.table(named: name)
    } catch let error as GodwitError where error.code == .notInSchema {
      if let table = try await table(ofCollection: name) { return table }
      let names = try await status().tables.map(\.name) + collections()
      guard let nearest = Misspelling(name).nearest(of: names) else { throw error }
      throw GodwitError(.notInSchema, error.message, hint: "did you mean: \(nearest)")
    }
  }

  /// What a table is called that was asked for by a name of its own, or of a collection; nil where none was. Of tables
  /// that are gone there may be something to list, so that a name that is neither stays what it is.
  package func tableName(orCollection name: String?) async throws -> String? {
    guard let name else { return nil }
    do {
      return try await table(orCollection: name).name
    } catch let error as GodwitError where error.code == .notInSchema {
      return name
    }
  }

  /// A hint where there is no collection of a name, and one of a similar name.
  package func hint(onCollection name: String) async throws -> String? {
    let names = try await collections()
    guard !names.contains(name) else { return nil }
    return Misspelling(name).nearest(of: names).map { "did you mean: \($0)" }
  }

  /// The error of a statement that names a collection in place of its table, with a hint that names the table.
  package func namingCollections(in error: GodwitError) async -> GodwitError {
    let parts = error.message.split(separator: "no such table: ", maxSplits: 1)
    guard error.code == .sql, parts.count == 2 || error.message.hasPrefix("no such table: "),
      let rest = parts.last, let names = try? await collections(),
      let name = names.filter({ rest.hasPrefix($0) }).max(by: { $0.utf8.count < $1.utf8.count }),
      let table = try? documents(name).table
    else { return error }
    let hint = "in SQL the collection \(name) is the table \(table)"
    return GodwitError(.sql, error.message, hint: hint, underlying: error.underlying)
  }

  /// Nil where no collection can have the name, or none has.
  private func table(ofCollection name: String) async throws -> TableDescription? {
    guard let table = try? documents(name).table else { return nil }
    do {
      return try await tables.table(named: table)
    } catch let error as GodwitError where error.code == .notInSchema {
      return nil
    }
  }
}
