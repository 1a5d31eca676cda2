import Foundation
import Godwit
import GodwitReports

/// The page about a replica (Specs/report.md): a function of what was read, and of what is asked for.
package struct ReportPage {
  /// What is asked for.
  package struct Options: Sendable {
    /// Whether keys and values of rows are shown.
    package var showsValues: Bool
    /// Whether a person can act on it: restore, and ask why.
    package var isLive: Bool

    /// Of a page that is a file.
    package init(showsValues: Bool = false, isLive: Bool = false) {
      self.showsValues = showsValues
      self.isLive = isLive
    }
  }

  let picture: ReplicaPicture
  let options: Options
  /// Nil when the log remembers nothing.
  let spans: Timeline?

  package init(_ picture: ReplicaPicture, _ options: Options = Options()) {
    self.picture = picture
    self.options = options
    spans = Timeline(picture.tally, credible: Timeline.credible(at: picture.takenAt))
  }

  var names: ReplicaNames { picture.names }
  var status: Replica.Status { picture.status }

  /// The page as one document.
  package var document: HTML {
    HTML.document(
      ["lang": "en"],
      [
        HTML(
          "head", [:],
          [
            HTML("meta", ["charset": "utf-8"]),
            HTML("meta", ["http-equiv": "Content-Security-Policy", "content": Self.policy]),
            HTML("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
            HTML("meta", ["name": "color-scheme", "content": "light dark"]),
            HTML("meta", ["name": "referrer", "content": "no-referrer"]),
            HTML("meta", ["name": "generator", "content": "Godwit \(GodwitVersion.current)"]),
            HTML("title", [:], "\(title), \(Format.time(picture.takenAt))"), HTML.style(PageStyle.sheet),
          ]), HTML("body", [:], [body]),
      ])
  }

  /// What stands in the body.
  package var body: HTML {
    let sections = sections
    return HTML([
      HTML("a", ["href": "#needs", "class": "skip"], "Skip the navigation"), header, navigation(sections),
      HTML("main", [:], sections.map(element)), footer,
    ])
  }

  /// What such a page may do: nothing but its own style.
  private static var policy: String {
    let hash = Array("\(PageStyle.sheet)".utf8).withUnsafeBytes { ContentHash(of: $0) }
    return
      "default-src 'none'; style-src 'sha256-\(Data(hash.bytes).base64EncodedString())'; base-uri 'none'; form-action 'none'"
  }

  private var title: String { "Godwit: \(names.name(picture.report.identity.replica))" }

  private var header: HTML {
    let values =
      options.showsValues
      ? HTML("p", ["class": "warning"], "This page shows keys and values of rows.")
      : HTML("p", ["class": "quiet"], "This page shows no key and no value of any row.")
    return HTML(
      "header", [:],
      [
        HTML("h1", [:], title),
        HTML(
          "p", [:],
          "Replica \(picture.report.identity.replica), incarnation \(status.incarnation), of group \(picture.report.group), as of \(Format.time(picture.takenAt))."
        ), HTML("p", [:], [HTML("Folder "), HTML("code", [:], picture.report.path)]), values,
      ])
  }

  private func navigation(_ sections: [Section]) -> HTML {
    HTML(
      "nav", ["aria-label": "Sections"],
      [
        HTML(
          "ul", [:],
          sections.map { HTML("li", [:], [HTML("a", ["href": "#\($0.name)"], $0.heading)]) })
      ])
  }

  private func element(_ section: Section) -> HTML {
    HTML(
      "section", ["id": "\(section.name)", "aria-labelledby": "\(section.name)-heading"],
      [HTML("h2", ["id": "\(section.name)-heading"], section.heading)] + section.content)
  }

  private var footer: HTML {
    HTML(
      "footer", [:],
      "Written by Godwit \(GodwitVersion.current), SQLCipher \(status.cipherVersion) on SQLite \(GodwitVersion.sqlite). Times are UTC."
    )
  }
}

extension ReportPage {
  /// A part of the page.
  struct Section {
    let name: StaticString
    let heading: String
    let content: [HTML]
  }

  var sections: [Section] {
    [
      Section(name: "needs", heading: "Needs", content: needs),
      Section(name: "members", heading: "Members", content: members),
      Section(name: "remotes", heading: "Remotes", content: remotes),
      Section(name: "waiting", heading: "Waiting", content: waiting),
      Section(name: "conflicts", heading: "Conflicts", content: conflicts),
      Section(name: "limbo", heading: "Limbo", content: limbo),
      Section(name: "tables", heading: "Tables", content: tables),
      Section(name: "schema", heading: "Schema", content: schema),
      Section(name: "sizes", heading: "Sizes", content: sizes),
      Section(name: "timeline", heading: "Timeline", content: timeline),
    ]
  }
}
