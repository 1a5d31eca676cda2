import Godwit
import GodwitReports

/// What `godwit ui` serves beside the report's sections: the empty page that a script fills, and why a row is so.
package enum LivePage {
  /// What each answer forbids: all but the page's own script and style, and questions to the same server.
  package static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  /// How it looks.
  package static var style: String { "\(PageStyle.sheet)\n" }

  /// The page before it is filled. It holds nothing of the replica.
  package static let shell = HTML.document(
    ["lang": "en"],
    [
      HTML(
        "head", [:],
        [
          HTML("meta", ["charset": "utf-8"]),
          HTML("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
          HTML("meta", ["name": "color-scheme", "content": "light dark"]),
          HTML("meta", ["name": "referrer", "content": "no-referrer"]), HTML("title", [:], "Godwit"),
          HTML("link", ["rel": "stylesheet", "href": "/page.css"]), HTML("script", ["src": "/page.js", "defer": ""]),
        ]), HTML("body", [:], [bar, HTML("div", ["id": "page"]), dialog]),
    ])

  /// What stays while the page below it is written anew.
  private static let bar = HTML(
    "div", ["class": "bar", "role": "region", "aria-label": "Actions"],
    [
      HTML("button", ["type": "button", "id": "sync"], "Sync now"),
      HTML("label", [:], [HTML("Table or collection "), HTML("input", ["id": "why-table", "autocomplete": "off"])]),
      HTML("label", [:], [HTML("Key "), HTML("input", ["id": "why-key", "autocomplete": "off"])]),
      HTML("button", ["type": "button", "id": "why"], "Why is this row so?"),
      HTML("p", ["id": "status", "role": "status"]), HTML("p", ["id": "state", "class": "quiet"], "Loading …"),
    ])

  private static let dialog = HTML(
    "dialog", ["id": "dialog", "aria-labelledby": "dialog-title"],
    [
      HTML("h2", ["id": "dialog-title"]), HTML("div", ["id": "dialog-content"]),
      HTML(
        "p", ["class": "actions"],
        [
          HTML("button", ["type": "button", "id": "dialog-act", "hidden": ""]), HTML(" "),
          HTML("button", ["type": "button", "id": "dialog-close"], "Close"),
        ]),
    ])

  /// Where a row's cells come from.
  package static func story(_ row: RowExplanation, _ names: ReplicaNames) -> HTML {
    let lines = RowStory(row, names).lines.map(Format.printable)
    return .preformatted(["class": "value", "tabindex": "0"], lines.joined(separator: "\n"))
  }
}
