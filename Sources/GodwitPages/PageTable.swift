/// A table of a page: its caption, header cells and rows.
struct PageTable {
  /// A column's heading, and how its cells stand.
  enum Column {
    case text(String)
    case number(String)

    fileprivate var heading: String {
      switch self {
      case .text(let heading), .number(let heading): heading
      }
    }

    fileprivate var isNumber: Bool {
      if case .number = self { true } else { false }
    }
  }

  private let caption: String
  private let columns: [Column]
  private let rows: [[HTML]]

  init(_ caption: String, _ columns: [Column], _ rows: [[HTML]]) {
    self.caption = caption
    self.columns = columns
    self.rows = rows
  }

  /// The table, in a region that scrolls by itself where it is wider than the page. The first cell of a row is its
  /// heading.
  var element: HTML { scrolling(HTML("caption", [:], caption)) }

  /// The same, folded.
  var folded: HTML {
    HTML("details", [:], [HTML("summary", [:], caption), scrolling(HTML("caption", ["class": "hidden"], caption))])
  }

  private func scrolling(_ caption: HTML) -> HTML {
    let head = columns.map {
      HTML("th", $0.isNumber ? ["scope": "col", "class": "number"] : ["scope": "col"], $0.heading)
    }
    let body = rows.map { row in
      HTML(
        "tr", [:],
        zip(row, columns).enumerated().map { index, cell in
          let content = [cell.0]
          guard index > 0 else { return HTML("th", ["scope": "row"], content) }
          return HTML("td", cell.1.isNumber ? ["class": "number"] : [:], content)
        })
    }
    return Self.region(
      self.caption,
      HTML("table", [:], [caption, HTML("thead", [:], [HTML("tr", [:], head)]), HTML("tbody", [:], body)]))
  }

  /// What may be wider than the page scrolls by itself, by keyboard too.
  static func region(_ label: String, _ content: HTML) -> HTML {
    HTML("div", ["class": "wide", "role": "region", "tabindex": "0", "aria-label": label], [content])
  }
}
