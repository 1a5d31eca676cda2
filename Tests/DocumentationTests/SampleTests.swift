import Foundation
import TestFolders
import Testing

@Suite("The documentation's samples")
struct SampleTests {
  @Test("are what Tests/DocumentationSamples compiles, line by line", arguments: DocumentationPage.all)
  func compiled(page: DocumentationPage) throws {
    let shown = try page.shownBlocks()
    guard !shown.isEmpty else { return }
    let compiled = try page.compiledBlocks()
    #expect(
      shown.count == compiled.count,
      "\(page.path) shows \(shown.count) blocks of Swift, \(page.samplePath) compiles \(compiled.count)")
    for (block, source) in zip(shown, compiled) {
      if let difference = block.difference(from: source) { Issue.record("\(difference)") }
    }
  }

  @Test("do what the pages say", .timeLimit(.minutes(1)), arguments: DocumentationPage.all)
  func run(page: DocumentationPage) async throws {
    guard try !page.shownBlocks().isEmpty else { return }
    let folder = NSTemporaryDirectory() + "godwit-samples-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { TestFolder.remove(folder) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Self.program)
    process.arguments = [page.name]
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    let status = try await Self.run(process)
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(status == 0, "the samples of \(page.path) end with \(status): \(said)")
  }

  @Test("belong to a page, all of them")
  func belong() throws {
    let pages = Set(DocumentationPage.all.map(\.name))
    let files = try FileManager.default.contentsOfDirectory(
      atPath: "\(DocumentationPage.root)/\(DocumentationPage.sampleFolder)")
    let names = files.map { URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent }
    #expect(Set(names).subtracting(pages) == ["DocumentationSamples"])
  }

  @Test("that drift are reported with both lines and their places")
  func drift() {
    let shown = CodeBlock(path: "Page.md", firstLine: 7, lines: ["let a = 1", "let b = 2"])
    let compiled = CodeBlock(path: "Page.swift", firstLine: 3, lines: ["  let a = 1", "  let b = 3"]).withoutIndentation
    #expect(
      shown.difference(from: compiled) == """
        Page.md:8 shows what Page.swift:4 does not compile
          shown:    let b = 2
          compiled: let b = 3
        """)
    #expect(shown.difference(from: shown) == nil)
    #expect(CodeBlock(path: "", firstLine: 1, lines: ["import Godwit", "", "f()"]).withoutImports.lines == ["f()"])
  }

  private static var program: String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    return (own as NSString).deletingLastPathComponent + "/documentation-samples"
  }

  private static func run(_ process: Process) async throws -> Int32 {
    try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
  }
}
