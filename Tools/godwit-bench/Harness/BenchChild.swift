import ArgumentParser
import Foundation
import Godwit
import GodwitFiles

/// What this program does when a row runs it anew, in a process of its own.
struct BenchChild: ParsableArguments {
  @Option(help: .hidden)
  var importAt: String?

  @Option(help: .hidden)
  var importFile: String?

  @Flag(help: .hidden)
  var importMayBeRefused = false

  @Option(help: .hidden)
  var syncAt: String?

  @Option(help: .hidden)
  var serveAt: String?

  /// Returns whether there was anything to do.
  func run() async throws -> Bool {
    if let importAt, let importFile {
      try await ResidentMemory.runImport(importFile, into: importAt, mayBeRefused: importMayBeRefused)
    } else if let syncAt {
      try await ResidentMemory.runSync(at: syncAt)
    } else if let serveAt {
      try await serve(serveAt)
    } else {
      return false
    }
    return true
  }

  /// As `godwit serve --stdio` does.
  private func serve(_ path: String) async throws {
    let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
    _ = try await replica.serve(
      source: FileDescriptor(0, path: "standard input", closes: false),
      sink: FileDescriptor(1, path: "standard output", closes: false))
    await replica.close()
  }
}
