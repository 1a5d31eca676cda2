import Foundation
import Testing

/// The files of a folder of Specs/vectors.
struct VectorFile: CustomTestStringConvertible {
  let path: String

  var name: String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }
  var testDescription: String { name }

  static func all(in folder: String) -> [VectorFile] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Specs/vectors/\(folder)").path
    let files = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return files.filter { $0.hasSuffix(".json") }.sorted().map { VectorFile(path: "\(root)/\($0)") }
  }

  func decode<Vector: Decodable>(_ type: Vector.Type) throws -> Vector {
    try JSONDecoder().decode(type, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }
}

@Suite("Specs/vectors/merge")
struct MergeVectorTests {
  private func run(_ file: VectorFile, seed: UInt64?) async throws {
    let vector = try file.decode(MergeVector.self)
    guard vector.anyOrder || seed == nil else { return }
    try await VectorRun.run(vector, seed: seed).close()
  }

  @Test("leads to what the file says", arguments: VectorFile.all(in: "merge"))
  func plain(file: VectorFile) async throws { try await run(file, seed: nil) }

  @Test("leads to the same in any order of hand-over", arguments: VectorFile.all(in: "merge"), UInt64(1)...2)
  func anyOrder(file: VectorFile, seed: UInt64) async throws { try await run(file, seed: seed) }

  @Test("is named after its row")
  func names() throws {
    let files = VectorFile.all(in: "merge")
    #expect(!files.isEmpty)
    for file in files { #expect(Int(file.name.prefix(2)) == (try file.decode(MergeVector.self)).row, "\(file.name)") }
  }
}
