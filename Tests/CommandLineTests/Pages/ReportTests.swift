import Foundation
import TestFolders
import Testing

/// Specs/report.md, by the program.
@Suite("The report")
struct ReportTests {
  @Test("has what others hold, conflicts, sizes and times, and no key and no value unless asked")
  func content() async throws {
    let desk = try await PageWorld().desk
    #expect(try desk.godwit("report", "plain.html").status == 0)
    #expect(try desk.godwit("report", "values.html", "--values").status == 0)
    let plain = String(decoding: try desk.read("plain.html"), as: UTF8.self)
    let values = String(decoding: try desk.read("values.html"), as: UTF8.self)
    for page in [plain, values] {
      for text in ["<h1>Godwit: desk</h1>", "documents_todo", "3 open conflicts", "(−", "<svg "] {
        #expect(page.contains(text), "\(text)")
      }
      #expect(!page.contains("<script") && !page.contains("href=\"http") && !page.contains(" style="))
    }
    #expect(!plain.contains(PageWorld.secretKey) && !plain.contains(PageWorld.secretValue))
    // A document's members have names that somebody gave them.
    #expect(plain.contains("1 member") && !plain.contains("<td>title</td>") && values.contains("documents_todo, title"))
    #expect(values.contains(PageWorld.secretKey) && values.contains(PageWorld.secretValue))
    #expect(values.contains("&lt;script&gt;") && values.contains(#"\u{202e}"#) && !values.contains("\u{202E}"))
    #expect(values.contains("… 1000000 characters in all") && values.utf8.count < 100_000)
  }

  @Test("is its owner's alone, replaces what is there, and goes to a pipe")
  func file() async throws {
    let desk = try await PageWorld().desk
    try desk.write(Data("old".utf8), to: "page.html")
    let written = try desk.godwit("report", "page.html", "--json")
    let object = try #require(try written.objects().first)
    #expect(object["values"] as? Bool == false)
    let page = try desk.read("page.html")
    #expect(object["bytes"] as? Int == page.count)
    let mode = try FileManager.default.attributesOfItem(atPath: desk.path("page.html"))[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let piped = try desk.godwit("report", "--quiet")
    #expect(piped.status == 0 && piped.text.hasPrefix("<!DOCTYPE html>") && piped.error.isEmpty)
    #expect(try desk.godwit("report", "nowhere/page.html").status != 0)
    for (own, words) in [
      (".godwit/keyring", "in the replica's own folder"), (".godwit/new.html", "in the replica's own folder"),
      (desk.machineKey, "a file of the replica itself"), ("", "has no name"),
    ] {
      let refused = try desk.godwit("report", own)
      #expect(refused.status != 0 && refused.error.contains(words), "\(own): \(refused.error)")
    }
    #expect(try desk.godwit("verify").status == 0)
  }

  @Test("is written over no file of a replica, by whatever path")
  func replicasFiles() async throws {
    let world = try await PageWorld()
    let (desk, laptop) = (world.desk, world.laptop)
    try FileManager.default.createSymbolicLink(atPath: desk.path("link"), withDestinationPath: desk.replica)
    for file in [".godwit/./database", "link/database", "\(laptop.replica)/keyring", "\(laptop.replica)/database"] {
      #expect(try desk.godwit("report", file).status != 0, "\(file)")
    }
    #expect(try desk.godwit("keyring", "new-key", "--output", ".godwit/database.new").status != 0)
    for machine in [desk, laptop] { #expect(try machine.godwit("verify").status == 0) }
  }

  @Test("a new replica and one of a folder with a hostile name have one")
  func odd() throws {
    let new = try Machine("new")
    let folder = "a<b>'\"&\u{202E}c"
    #expect(try new.godwit("init", folder).status == 0)
    let page = try new.godwit("-C", folder, "report", "--values")
    #expect(page.status == 0)
    #expect(page.text.contains("Nothing: all is well.") && page.text.contains(#"a&lt;b&gt;&#39;&quot;&amp;\u{202e}c"#))
    #expect(page.text.contains("The log remembers no transaction"))
  }
}
