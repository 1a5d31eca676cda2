import Foundation

/// The tests of this package, as tables of documentation name them.
enum TestNames {
  /// `Type/function` of every test in Tests/: a type opens at the start of a line and holds what follows it.
  static func all() throws -> Set<String> {
    let type = /^(?:private |final )*(?:struct|class|extension) (\w+)/
    let function = /\bfunc (\w+)/
    let folder = "\(DocumentationPage.root)/Tests"
    var found: Set<String> = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder)
    where path.hasSuffix("Tests.swift") || path.contains("Tests+") {
      var current = ""
      var isTest = false
      for line in try DocumentationPage.text(of: "Tests/\(path)").split(separator: "\n") {
        let declared = line.replacing("@Suite ", with: "")
        if let match = declared.firstMatch(of: type) { current = String(match.output.1) }
        if line.contains("@Test") { isTest = true }
        if isTest, let match = line.firstMatch(of: function) {
          found.insert("\(current)/\(match.output.1)")
          isTest = false
        }
      }
    }
    return found
  }

  /// The names in a cell of a table, each in backquotes, with commas between them.
  static func named(in cell: String) -> [String] {
    cell.split(separator: ",").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "` ")) }.filter {
      !$0.isEmpty
    }
  }

  /// The cells of a table's row; a bar inside code is written \| and splits nothing.
  static func cells(of line: String) -> [String] {
    line.replacingOccurrences(of: "\\|", with: "¦").split(separator: "|", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }
}
