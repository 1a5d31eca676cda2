/// Words that have been retired: each thing has one name (Specs/glossary.md).
enum WordRule {
  /// By the retired name, what is said now.
  static let retired = [
    "TableCarriage": "TablePath", "ColumnMapping": "TableTerms", "CarrierRun": "SchemaAdapter",
    "CarriedLog": "ChangeLog", "RowBeginning": "nothing", "LateWrites": "nothing", "StandIn": "nothing",
    "QuarantineLog": "nothing", "GodwitReplication": "GodwitCore", "RowImage": "hidden cells",
    "ConflictCarrier": "ConflictLog.Carrier",
  ]

  static func breaches(in file: SourceFile) -> [Breach] {
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
