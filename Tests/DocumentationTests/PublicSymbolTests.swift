import Foundation
import Testing

@Suite("The public API")
struct PublicSymbolTests {
  private static let list = "Specs/public-api.txt"
  private static let modules = [
    "GodwitBase", "GodwitCache", "GodwitCore", "GodwitCrypto", "GodwitDocuments", "GodwitEngine", "GodwitKeys",
    "GodwitModel", "Godwit",
  ]

  /// Where this build's modules are: beside the samples' program.
  private static var built: String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    return (own as NSString).deletingLastPathComponent
  }

  private static let symbols = Result { try PublicSymbols.extract(modules, builtIn: built) }

  @Test("is what Specs/public-api.txt lists, symbol by symbol")
  func listed() throws {
    let lines = try Self.symbols.get().lines
    let path = "\(DocumentationPage.root)/\(Self.list)"
    if ProcessInfo.processInfo.environment["GODWIT_RECORD_GOLDEN"] == "1" {
      try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
    }
    let known = try DocumentationPage.text(of: Self.list).split(separator: "\n").map(String.init)
    let (new, gone) = (Set(lines).subtracting(known).sorted(), Set(known).subtracting(lines).sorted())
    let differences = new.map { "+ \($0)" } + gone.map { "- \($0)" }
    #expect(
      differences.isEmpty && known == lines,
      "GODWIT_RECORD_GOLDEN=1 writes the list anew; review:\n\(differences.prefix(20).joined(separator: "\n"))")
  }

  @Test("has at most a hundred types at the top")
  func topLevelTypes() throws {
    let types = try Self.symbols.get().topLevelTypes
    #expect(types.count <= 100, "there are \(types.count): \(types.joined(separator: ", "))")
    #expect(types.contains("Replica") && types.contains("Query"))
  }

  @Test("re-exports exactly the modules whose symbols are listed")
  func modules() throws {
    let exports = try DocumentationPage.text(of: "Sources/Godwit/Exports.swift").split(separator: "\n")
      .compactMap { $0.split(separator: "@_exported import ").last.map(String.init) }
      .filter { $0.hasPrefix("Godwit") }
    #expect(Set(exports + ["Godwit"]) == Set(Self.modules))
  }
}
