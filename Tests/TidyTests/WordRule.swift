/// Words that have been retired: each thing has one name (Specs/glossary.md).
enum WordRule {
  /// By the retired name, what is said now.
  static let retired = [
    "TableCarriage": "TablePath", "ColumnMapping": "TableTerms", "CarrierRun": "SchemaAdapter",
    "CarriedLog": "ChangeLog", "RowBeginning": "nothing", "LateWrites": "nothing", "StandIn": "nothing",
    "QuarantineLog": "nothing", "GodwitReplication": "GodwitCore", "RowImage": "hidden cells",
    "ConflictCarrier": "ConflictLog.Carrier", "SignedStatement": "SignedAcknowledgement",
    "MemberStatement": "Acknowledgement", "KnownStatements": "SignedAcknowledgements", "isSnapshot": "isStateFile",
    "SnapshotHead": "StateHead", "SnapshotImport": "StateImport", "SnapshotExport": "StateExport",
  ]

  /// What a comment says nothing by: a plain verb has a subject.
  nonisolated(unsafe) private static let figurative =
    /\b(?:[Tt]ells?|[Tt]old|[Hh]ears?|[Hh]eard|[Gg]oes on|[Ll]ets? go|[Ll]etting go)\b/

  static func breaches(in file: SourceFile) -> [Breach] {
    names(in: file) + (file.path.hasPrefix("Tests/") ? [] : phrases(in: file))
  }

  private static func phrases(in file: SourceFile) -> [Breach] {
    file.lines.enumerated().compactMap { number, line in
      guard line.drop(while: { $0 == " " }).hasPrefix("//"), let match = line.firstMatch(of: figurative) else {
        return nil
      }
      return Breach(path: file.path, line: number + 1, reason: "\"\(match.output)\" is no plain verb here")
    }
  }

  private static func names(in file: SourceFile) -> [Breach] {
    guard retired.keys.contains(where: file.text.contains) else { return [] }
    return file.lines.enumerated().flatMap { number, line in
      line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.compactMap { word in
        retired[String(word)].map {
          Breach(path: file.path, line: number + 1, reason: "\(word) is retired; say \($0)")
        }
      }
    }
  }
}
