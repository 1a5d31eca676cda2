import Testing

/// What a reader may rely on in every file, and cannot be left to care alone.
@Suite("Tidiness")
struct TidyTests {
  /// What may be longer, and why.
  private static let lengthExceptions = [
    "Sources/GodwitCrypto/Secrets/StackWipe.swift": "functions of C's kind, which no type is about",
    "Sources/Godwit/Exports.swift": "what a program gets beside Godwit's own",
    "Sources/GodwitBase/ProgressHandler.swift": "a name that several modules use",
    "Tests/DocumentationSamples/": "the guide shows a sample whole, from top to bottom",
    "Tests/GodwitKeysTests/Keyring/KeyringVectorRecordingTests.swift:record": "one vector after another",
    "Tests/GodwitTests/Container/ContainerVectorRecordingTests": "one vector after another",
    "Tools/grdb-compare/Package.swift": "a package of its own",
    "Tests/GodwitTests/Migration/HeldCount.swift": "a short form for tests of reports of two kinds",
    "Tests/GodwitTests/Support/PlaintextScan.swift": "a function that many suites use",
    "Tests/GodwitTests/EdgeCases/StrictDecoding.swift": "a function that many suites use",
  ]

  private static func sources() throws -> [SourceFile] { try SourceFile.all(in: ["Sources"]) }

  @Test("lengths: files, functions and lines")
  func lengths() throws {
    let files = try SourceFile.all(in: ["Sources", "Tests", "Tools"])
    let rule = LengthRule(files, exceptions: Self.lengthExceptions)
    let breaches = files.filter { !$0.path.hasPrefix("Tests/TidyTests") }.flatMap(rule.breaches)
    #expect(breaches == [], "\(breaches.map(\.description).joined(separator: "\n"))")
  }

  @Test("owners: one type has the SQL on each system table, and each has an owner")
  func owners() throws {
    let files = try Self.sources().filter { $0.module != "GodwitSimulation" }
    let breaches = files.flatMap(OwnerRule.breaches)
    #expect(breaches == [], "\(breaches.map(\.description).joined(separator: "\n"))")
    for (table, owner) in OwnerRule.owners {
      let creations = files.filter { file in
        file.owner == owner && file.lines.contains { $0.contains("CREATE TABLE \(table) (") }
      }
      #expect(creations.count == 1, "\(table)")
    }
  }

  @Test("modules: each imports only what stands below it")
  func modules() throws {
    let breaches = try Self.sources().flatMap(ModuleRule().breaches)
    #expect(breaches == [], "\(breaches.map(\.description).joined(separator: "\n"))")
  }

  @Test("folders: each of the engine's uses only what stands above it")
  func folders() throws {
    let files = try Self.sources().filter { $0.module == "GodwitEngine" }
    let rule = FolderRule(files)
    let breaches = files.flatMap(rule.breaches)
    #expect(breaches == [], "\(breaches.map(\.description).joined(separator: "\n"))")
  }

  @Test("words: retired names are gone, and comments, titles of tests and pages have plain verbs")
  func words() throws {
    let files = try SourceFile.all(in: ["Sources", "Tests", "Tools"]) + SourceFile.pages() + SourceFile.scripts()
    let breaches = files.filter { !$0.path.hasPrefix("Tests/TidyTests") }.flatMap(WordRule.breaches)
    #expect(breaches == [], "\(breaches.map(\.description).joined(separator: "\n"))")
  }

  // MARK: The rules can fail

  @Test("a file that is too long, a short one that nobody uses, a long function and a long line are found")
  func findsLengths() {
    let long = SourceFile(path: "Sources/A/Long.swift", text: String(repeating: "// line\n", count: 401))
    let short = SourceFile(path: "Sources/A/Short.swift", text: "struct Short {}\n")
    let body = String(repeating: "    work()\n", count: 59)
    let function = SourceFile(path: "Sources/A/B.swift", text: "struct B {\n  func run() {\n\(body)  }\n}\n")
    let wide = SourceFile(path: "Sources/A/C.swift", text: String(repeating: "x", count: 121) + "\n" + body)
    let rule = LengthRule([long, short, function, wide])
    #expect(rule.breaches(in: long).count == 1)
    #expect(rule.breaches(in: short).count == 1)
    #expect(rule.breaches(in: function).map(\.line) == [2])
    #expect(rule.breaches(in: wide).map(\.line) == [1])
    let words = String(repeating: "word ", count: 24)
    let quoting = SourceFile(
      path: "Sources/A/D.swift", text: "/// A \"quote\" \(words)\nlet text = \"\(words)\"\n" + body)
    #expect(rule.breaches(in: quoting).map(\.line) == [1])
    let users = (0..<2).map { SourceFile(path: "Sources/A/User\($0).swift", text: "let short = Short()\n") }
    #expect(LengthRule([short] + users).breaches(in: short) == [])
    let other = SourceFile(path: "Sources/A/Other.swift", text: "let shorter = Shorter()\n")
    #expect(LengthRule([short, other]).breaches(in: short).count == 1)
  }

  @Test("SQL on a table that is another's, or nobody's, is found")
  func findsOwners() {
    let text = "let sql = \"SELECT 1 FROM godwit_log\"\nlet other = \"DELETE FROM godwit_new WHERE 1\"\n"
    let file = SourceFile(path: "Sources/GodwitEngine/Merge/Merger.swift", text: text)
    #expect(OwnerRule.breaches(in: file).map(\.line) == [1, 2])
    let numbered = SourceFile(path: file.path, text: "let sql = \"DROP TABLE godwit_former_\\(table)\"\n")
    #expect(OwnerRule.breaches(in: numbered).map(\.line) == [1])
    #expect(
      OwnerRule.breaches(in: SourceFile(path: "Sources/GodwitEngine/Store/ChangeLog+A.swift", text: text)).count == 1)
  }

  @Test("an import upwards, or sideways, and a module without a floor are found")
  func findsModules() {
    let upwards = SourceFile(path: "Sources/GodwitCore/A.swift", text: "import GodwitBase\nimport Godwit\n")
    #expect(ModuleRule().breaches(in: upwards).map(\.line) == [2])
    let sideways = SourceFile(path: "Sources/GodwitCore/A.swift", text: "import GodwitStorage\n")
    #expect(ModuleRule().breaches(in: sideways).count == 1)
    #expect(ModuleRule().breaches(in: SourceFile(path: "Sources/GodwitNew/A.swift", text: "\n")).count == 1)
  }

  @Test("a type of a folder below, and a folder that is not listed, are found")
  func findsFolders() {
    let writer = SourceFile(path: "Sources/GodwitEngine/Writer/B.swift", text: "package final class B {\n}\n")
    let text = "// B\nlet text = \"B\"\nlet b = B()\n"
    let rule = FolderRule([writer])
    #expect(rule.breaches(in: SourceFile(path: "Sources/GodwitEngine/Store/A.swift", text: text)).map(\.line) == [3])
    #expect(rule.breaches(in: SourceFile(path: "Sources/GodwitEngine/Upkeep/A.swift", text: text)) == [])
    #expect(rule.breaches(in: SourceFile(path: "Sources/GodwitEngine/New/A.swift", text: text)).count == 1)
  }

  @Test("a retired word is found, and a verb that is not plain in a comment, a test's title and a page")
  func findsWords() {
    let file = SourceFile(path: "Sources/Godwit/A.swift", text: "// As before.\nlet x = LateWrites()\n")
    #expect(WordRule.breaches(in: file).map(\.line) == [2])
    let spoken = SourceFile(path: "Sources/Godwit/A.swift", text: "/// Tells what it hears.\nlet told = 1\n")
    #expect(WordRule.breaches(in: spoken).map(\.line) == [1, 1])
    let titled = "@Suite(\"A\")\nstruct ATests {\n  @Test(\n    \"is told\", arguments: [\"told\"])\n  func a() {}\n}\n"
    #expect(WordRule.breaches(in: SourceFile(path: "Tests/A/ATests.swift", text: titled)).map(\.line) == [4])
    let behind = "  @Test(\"it goes on\", arguments: [\"told\"])\n"
    #expect(WordRule.breaches(in: SourceFile(path: "Tests/A/ATests.swift", text: behind)).map(\.line) == [1])
    let page = "It has `told`, ``told`` and goes\non. Where they go, on paper.\n\n```\ntold\n```\nIt lets\n\ngo.\n"
    #expect(WordRule.breaches(in: SourceFile(path: "Specs/a.md", text: page)).map(\.line) == [2])
    let script = SourceFile(path: "Tools/a", text: "# It runs.\ntold=1\n# What fails is\n# told.\n")
    #expect(WordRule.breaches(in: script).map(\.line) == [2, 4])
    let message = "throw E(\"the file goes on\")\nlet told = \"told\"\nlet text = \"\"\"\n  It tells.\n  \"\"\""
    #expect(WordRule.breaches(in: SourceFile(path: "Tools/a.swift", text: message)).map(\.line) == [1, 4])
  }
}
