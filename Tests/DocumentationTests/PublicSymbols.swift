import Foundation

/// What the compiler's symbol graphs say is public in the modules that a program gets by `import Godwit`.
struct PublicSymbols {
  /// One line a symbol, in order: its path, and how it is declared.
  let lines: [String]
  /// The types that stand in no other type.
  let topLevelTypes: [String]

  private static let typeKinds: Set<String> = [
    "swift.struct", "swift.class", "swift.enum", "swift.protocol", "swift.typealias", "swift.actor",
  ]

  /// Reads the graphs that the compiler makes of built modules.
  ///
  /// - Throws: `Failure` with what the tool said, when it fails.
  static func extract(_ modules: [String], builtIn folder: String) throws -> PublicSymbols {
    let output = NSTemporaryDirectory() + "godwit-symbols-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: output) }
    for module in modules { try extract(module, builtIn: folder, to: output) }
    var symbols: [Symbol] = []
    for file in try FileManager.default.contentsOfDirectory(atPath: output) where file.hasSuffix(".symbols.json") {
      let data = try Data(contentsOf: URL(fileURLWithPath: "\(output)/\(file)"))
      symbols += try JSONDecoder().decode(Graph.self, from: data).symbols
    }
    return PublicSymbols(symbols.filter(\.isDeclared))
  }

  private init(_ symbols: [Symbol]) {
    lines = Set(symbols.map(\.line)).sorted()
    let types = symbols.filter { $0.pathComponents.count == 1 && Self.typeKinds.contains($0.kind.identifier) }
    topLevelTypes = Set(types.map { $0.pathComponents[0] }).sorted()
  }

  private static func extract(_ module: String, builtIn folder: String, to output: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    let includes =
      ["\(folder)/Modules", "\(folder)/CCurl.build"]
      + ["CSQLCipher", "COpenSSL", "CZstd", "CExpat", "CSpawn"].map { "\(DocumentationPage.root)/Sources/\($0)" }
    process.arguments =
      ["swift", "symbolgraph-extract", "-module-name", module, "-target", target]
      + includes.flatMap { ["-I", $0] } + ["-minimum-access-level", "public", "-output-dir", output]
    let said = Pipe()
    process.standardError = said
    try process.run()
    let message = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(message: "\(module): \(message)") }
  }

  private static var target: String {
    #if arch(arm64)
      "aarch64-unknown-linux-gnu"
    #else
      "x86_64-unknown-linux-gnu"
    #endif
  }

  struct Failure: Error {
    let message: String
  }
}

extension PublicSymbols {
  /// The part of a symbol graph that is read.
  private struct Graph: Decodable {
    let symbols: [Symbol]
  }

  fileprivate struct Symbol: Decodable {
    struct Kind: Decodable {
      let identifier: String
    }
    struct Identifier: Decodable {
      let precise: String
    }
    struct Fragment: Decodable {
      let spelling: String
    }

    let pathComponents: [String]
    let kind: Kind
    let identifier: Identifier
    let declarationFragments: [Fragment]?

    /// Whether it stands in the sources, and does not come with a conformance.
    var isDeclared: Bool { !identifier.precise.contains("::SYNTHESIZED::") }

    var line: String {
      let declaration = (declarationFragments ?? []).map(\.spelling).joined()
      let words = declaration.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      return "\(pathComponents.joined(separator: ".")): \(words)"
    }
  }
}
