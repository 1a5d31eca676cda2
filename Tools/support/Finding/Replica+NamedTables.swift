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

  /// Lists something of a table that was asked for by a name of its own, or of a collection; of all where none was. Of
  /// tables that are gone there may be something to list, so a name that is neither stays what it is.
  ///
  /// - Throws: `notInSchema` when there is neither, nor was.
  package func list<Output>(
    ofTable name: String?, _ body: (_ table: String?) async throws -> Output
  ) async throws -> Output {
    guard let name else { return try await body(nil) }
    do {
      return try await body(try await table(orCollection: name).name)
    } catch let unknown as GodwitError where unknown.code == .notInSchema {
      do {
        return try await body(name)
      } catch let error as GodwitError where error.code == .notInSchema {
        throw unknown
      }
    }
  }

  /// What is said where a collection has nothing to show, with a hint if only one of a similar name has.
  package func emptiness(ofCollection name: String) async throws -> String {
    try await hint(onCollection: name).map { "no documents; \($0)" } ?? "no documents"
  }

  /// A hint where there is no collection of a name, and one of a similar name.
  package func hint(onCollection name: String) async throws -> String? {
    let names = try await collections()
    guard !names.contains(name) else { return nil }
    return Misspelling(name).nearest(of: names).map { "did you mean: \(Format.printable($0))" }
  }

  /// The error of a statement that names a table that is not there, with a hint that names the one that may be meant.
  package func namingTables(in error: GodwitError) async -> GodwitError {
    let parts = error.message.split(separator: "no such table: ", maxSplits: 1)
    guard error.code == .sql, parts.count == 2 || error.message.hasPrefix("no such table: "),
      let rest = parts.last, let hint = try? await hint(onTableIn: rest)
    else { return error }
    return GodwitError(.sql, error.message, hint: hint, underlying: error.underlying)
  }

  /// A hint on the table with whose name a text begins.
  private func hint(onTableIn text: Substring) async throws -> String? {
    let names = try await collections()
    if let name = names.filter({ text.hasPrefix($0) }).max(by: { $0.utf8.count < $1.utf8.count }) {
      return "in SQL the collection \(name) is the table \(try documents(name).table)"
    }
    let tables = try await status().tables.map(\.name) + names.map { try documents($0).table }
    let unknown = String(text.prefix { $0 != "," && !$0.isWhitespace })
    return Misspelling(unknown).nearest(of: tables).map { "did you mean: \($0)" }
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
