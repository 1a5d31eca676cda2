import Foundation

/// Words that have been retired, for each thing has one name (Specs/glossary.md), and verbs that are not plain.
enum WordRule {
  /// By the retired name, what is said now.
  static let retired = [
    "TableCarriage": "TablePath", "ColumnMapping": "TableTerms", "CarrierRun": "SchemaAdapter",
    "CarriedLog": "ChangeLog", "RowBeginning": "nothing", "LateWrites": "nothing", "StandIn": "nothing",
    "QuarantineLog": "nothing", "GodwitReplication": "GodwitCore", "RowImage": "hidden cells",
    "ConflictCarrier": "ConflictLog.Carrier", "SignedStatement": "SignedAcknowledgement",
    "MemberStatement": "Acknowledgement", "KnownStatements": "SignedAcknowledgements", "isSnapshot": "isStateFile",
    "SnapshotHead": "StateHead", "SnapshotImport": "StateImport", "SnapshotExport": "StateExport",
    "deletedImages": "deletedCells",
  ]

  /// What a sentence says nothing by: a plain verb has a subject.
  private static let figurative: Set<String> = [
    "tell", "tells", "telling", "told", "hear", "hears", "hearing", "heard", "go on", "goes on", "going on", "went on",
    "gone on", "let go", "lets go", "letting go",
  ]

  static func breaches(in file: SourceFile) -> [Breach] { names(in: file) + phrases(in: file) }

  /// A phrase of two words may stand on two lines.
  private static func phrases(in file: SourceFile) -> [Breach] {
    var breaches: [Breach] = []
    var before = ""
    // Of scripts every word counts.
    let lines = file.isPage ? paragraphs(of: file) : file.isSwift ? sentences(of: file) : file.lines
    for (number, line) in withoutCode(lines).enumerated() {
      if line.isEmpty { before = "" }
      for part in line.split(separator: " ") {
        let word = part.filter { $0.isLetter }.lowercased()
        for phrase in [word, "\(before) \(word)"] where figurative.contains(phrase) {
          breaches.append(
            Breach(path: file.path, line: number + 1, reason: "\"\(phrase)\" is no plain verb here"))
        }
        before = part.last?.isLetter == true ? word : ""
      }
    }
    return breaches
  }

  /// Of a Swift file the comments, the titles of tests, and what the product says to people; every other line is empty.
  private static func sentences(of file: SourceFile) -> [Substring] {
    let isProduct = file.path.hasPrefix("Sources/") || file.path.hasPrefix("Tools/")
    var sentences: [Substring] = []
    var before: Substring = ""
    var isText = false
    for line in file.lines {
      let code = line.drop { $0 == " " }
      let marks = code.components(separatedBy: "\"\"\"").count - 1
      if code.hasPrefix("//") {
        sentences.append(code.drop { $0 == "/" })
      } else if isProduct {
        sentences.append(isText && marks == 0 ? code : Substring(spoken(in: code)))
      } else {
        sentences.append(title(in: code, after: before))
      }
      if !marks.isMultiple(of: 2) { isText.toggle() }
      before = line
    }
    return sentences
  }

  /// What stands between quotation marks on a line, one after another. A word alone is a name.
  private static func spoken(in code: Substring) -> String {
    let parts = code.split(separator: "\"", omittingEmptySubsequences: false)
    let literals = parts.indices.filter { !$0.isMultiple(of: 2) }.map { parts[$0] }
    return literals.filter { $0.contains(" ") }.joined(separator: " | ")
  }

  /// The title of a test or suite: behind its attribute, or at the beginning of the next line.
  private static func title(in code: Substring, after before: Substring) -> Substring {
    let isBehind = code.hasPrefix("@Test(\"") || code.hasPrefix("@Suite(\"")
    let isBelow = code.hasPrefix("\"") && (before.hasSuffix("@Test(") || before.hasSuffix("@Suite("))
    guard isBehind || isBelow else { return "" }
    return code.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().first ?? ""
  }

  /// Of a page all lines but those of code blocks, which are empty.
  private static func paragraphs(of page: SourceFile) -> [Substring] {
    var paragraphs: [Substring] = []
    var isCode = false
    for line in page.lines {
      let isFence = line.drop { $0 == " " }.hasPrefix("```")
      if isFence { isCode.toggle() }
      paragraphs.append(isFence || isCode ? "" : line)
    }
    return paragraphs
  }

  /// The lines without what stands between backticks; that ends with its paragraph.
  private static func withoutCode(_ lines: [Substring]) -> [String] {
    var isCode = false
    return lines.map { line -> String in
      if line.isEmpty { isCode = false }
      var text = ""
      var last: Character = " "
      for character in line {
        let isTick = character == "`"
        if isTick, last != "`" { isCode.toggle() }
        if isTick || !isCode { text.append(character) }
        last = character
      }
      return text
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
