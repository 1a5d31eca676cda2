import ArgumentParser
import Foundation
import Godwit
import GodwitFiles
import GodwitPages
import ToolSupport

struct Report: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write a page about the replica that any browser shows: who holds what, what waits, conflicts, sizes.",
    discussion: """
      The page is one file and needs no server, no scripts and no network. It holds no key and no value of any row,
      unless --values asks for them: a page on disk is plaintext.

      Examples:
        godwit report notes.html
        godwit report --values conflicts.html
        godwit report | ssh desk 'cat > notes.html'
      """)

  @Argument(
    help: "The file, or - for the standard output. A file that exists is replaced. (default: the standard output)",
    completion: .file())
  var file = "-"

  @Flag(help: "Show keys and values of conflicts and held-back rows, READABLE BY WHOEVER HAS THE PAGE.")
  var values = false

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    if file == "-", StandardStream.output.isTerminal {
      throw GodwitError(
        .invalidArgument, "a page is not for a terminal", hint: "name a file: godwit report notes.html")
    }
    guard !file.isEmpty else {
      throw GodwitError(.invalidArgument, "the page's file has no name", hint: "name one: godwit report notes.html")
    }
    let picture = try await options.withReplica { replica in
      if file != "-" { try replica.requireOutside(file) }
      return try await ReplicaPicture(of: replica)
    }
    let page = ReportPage(picture, .init(showsValues: values)).document.markup
    if file == "-" {
      try StandardStream.output.write(page)
    } else {
      try PrivateFile.replace(file, with: Array(page.utf8))
    }
    let json: JSONValue = ["file": .string(file), "bytes": .number(page.utf8.count), "values": .bool(values)]
    guard !options.json else {
      return try file == "-" ? StandardStream.error.write(json.text + "\n") : options.console.line(json)
    }
    options.console.note("wrote \(Format.byteSize(page.utf8.count))\(values ? ", with keys and values of rows" : "")")
  }
}
