import Foundation
import GodwitPages
import Testing

/// Specs/report.md, "Hostile values".
@Suite("Markup")
struct HTMLTests {
  @Test("text is escaped, in elements and in attributes alike")
  func escaping() {
    let hostile = #"<script>alert("a" & 'b')</script>"#
    let shown = "&lt;script&gt;alert(&quot;a&quot; &amp; &#39;b&#39;)&lt;/script&gt;"
    #expect(HTML(hostile).markup == shown)
    #expect(HTML("p", [:], hostile).markup == "<p>\(shown)</p>")
    #expect(HTML("p", ["title": hostile]).markup == "<p title=\"\(shown)\"></p>")
    #expect(HTML.preformatted([:], "\na\n" + hostile).markup == "<pre>\n\na\n\(shown)</pre>")
  }

  @Test("characters that control or turn the direction of text are shown by their codes")
  func controls() {
    #expect(HTML("a\u{202E}b\u{0}\n").markup == #"a\u{202e}b\u{0}\n"#)
    #expect(HTML("p", ["title": "\u{2066}\t"]).markup == #"<p title="\u{2066}\t"></p>"#)
  }

  @Test("whatever a text holds, it ends no attribute and no element", arguments: UInt64(0)..<100)
  func anything(seed: UInt64) {
    var state = seed
    let pieces = [
      "<", ">", "&", "\"", "'", "</pre>", "<!--", "-->", "]]>", "&lt;", "script", "\u{200F}", "é", "\r", "=",
    ]
    let text = (0..<40).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return pieces[Int(state >> 33) % pieces.count]
    }.joined()
    let markup = HTML.preformatted(["title": text], text).markup
    let inside = markup.dropFirst("<pre title=\"".count).dropLast("</pre>".count)
    #expect(!inside.contains { "<'".contains($0) })
    // The quote and the bracket that end the start tag are the only ones.
    #expect(inside.filter { $0 == "\"" }.count == 1 && inside.filter { $0 == ">" }.count == 1)
  }

  @Test("an element without content ends, and one that has none in HTML does not")
  func ends() {
    #expect(HTML("td", [:]).markup == "<td></td>")
    #expect(HTML("meta", ["charset": "utf-8"]).markup == "<meta charset=\"utf-8\">")
    #expect(HTML.document(["lang": "en"], []).markup == "<!DOCTYPE html>\n<html lang=\"en\"></html>\n")
  }
}
