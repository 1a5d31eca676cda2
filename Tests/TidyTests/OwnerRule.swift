/// One type owns each of Godwit's own tables, and is the only one with SQL on it.
enum OwnerRule {
  static let owners = [
    "godwit_meta": "Meta", "godwit_table": "StoredTables", "godwit_origin": "OriginTable", "godwit_log": "ChangeLog",
    "godwit_context": "ChangeLog", "godwit_staged": "StagedTransactions", "godwit_head": "SignedHeads",
    "godwit_row": "RowStates", "godwit_limbo": "Limbo", "godwit_conflict": "ConflictLog",
    "godwit_conflict_value": "ConflictValues", "godwit_acknowledgement": "Acknowledgements",
    "godwit_migration": "MigrationHistory", "godwit_loss": "LossLog", "godwit_ahead": "AheadRows",
    "godwit_signed_acknowledgement": "SignedAcknowledgements", "godwit_fork": "KnownForks",
    "godwit_remote": "RemoteNotes", "godwit_remote_file": "RemoteNotes",
    "godwit_base": "HeaderBases",
  ]

  /// Those of which there is one for each table; the names begin so.
  static let numbered = ["godwit_former_": "FormerRows"]

  static func breaches(in file: SourceFile) -> [Breach] {
    file.lines.enumerated().flatMap { number, line -> [Breach] in
      let code = line.drop { $0 == " " }
      guard code.contains("godwit_"), !code.hasPrefix("//") else { return [] }
      return (tables(namedIn: code) + numbered.keys.filter(code.contains)).compactMap { table in
        guard let owner = owners[table] ?? numbered[table] else {
          return Breach(path: file.path, line: number + 1, reason: "\(table) has no owner; OwnerRule lists them")
        }
        guard owner != file.owner else { return nil }
        return Breach(path: file.path, line: number + 1, reason: "\(table) is \(owner)'s; ask that")
      }
    }
  }

  /// What SQL on a line creates, reads or writes of Godwit's own.
  private static func tables(namedIn code: Substring) -> [String] {
    code.matches(of: /\b(?:FROM|INTO|UPDATE|JOIN|TABLE|FAIL|REPLACE|name =) '?(godwit_[a-z_]+)\b(?!\\)/).map {
      String($0.output.1)
    }
  }
}
