import GodwitReports

/// A piece of a page. Nothing else writes markup: names of elements and attributes are literals of the program, and
/// text is escaped when it comes in (Specs/report.md, "Hostile values").
package struct HTML: Sendable, Equatable {
  /// As it stands in the page.
  package let markup: String

  private init(markup: String) { self.markup = markup }

  /// Text, on one line.
  package init(_ text: String) { markup = Self.escaped(text) }

  /// Pieces one after another.
  package init(_ pieces: [HTML]) { markup = pieces.map(\.markup).joined() }

  /// An element. One of HTML that has no content has no end tag.
  package init(
    _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String>, _ content: [HTML] = []
  ) {
    let list = attributes.map { " \($0.key)=\"\(Self.escaped($0.value))\"" }.joined()
    let isVoid = ["meta", "link", "input"].contains("\(name)")
    markup = "<\(name)\(list)>" + (isVoid ? "" : HTML(content).markup + "</\(name)>")
  }

  /// An element with text.
  package init(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String>, _ text: String) {
    self.init(name, attributes, [HTML(text)])
  }

  /// Text as it is, lines and spaces, in an element of its own.
  package static func preformatted(_ attributes: KeyValuePairs<StaticString, String>, _ text: String) -> HTML {
    // HTML leaves out a line break at the beginning, so that the first one is never the text's.
    HTML("pre", attributes, [HTML(markup: "\n"), lines(text)])
  }

  private static func lines(_ text: String) -> HTML {
    HTML(
      markup: text.split(separator: "\n", omittingEmptySubsequences: false).map { escaped(String($0)) }
        .joined(separator: "\n"))
  }

  /// What a style element holds. No text of others' belongs there.
  package static func style(_ sheet: StaticString) -> HTML { HTML(markup: "<style>\(sheet)</style>") }

  /// A document, with what says so.
  package static func document(_ attributes: KeyValuePairs<StaticString, String>, _ content: [HTML]) -> HTML {
    HTML(markup: "<!DOCTYPE html>\n" + HTML("html", attributes, content).markup + "\n")
  }

  /// On one line, without characters that control or turn the direction of text, and without markup.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in Format.printable(text).unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

extension HTML: ExpressibleByStringLiteral {
  package init(stringLiteral text: StaticString) { self.init("\(text)") }
}
