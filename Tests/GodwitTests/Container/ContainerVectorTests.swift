import Foundation
import Godwit
import Synchronization
import Testing

/// Specs/vectors/container: files with what they hold, or the error that both reading and importing them gives.
@Suite("Container vectors")
struct ContainerVectorTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Specs/vectors/container").path

  static let names: [String] = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    .filter { $0.hasSuffix(".json") }.sorted()

  @Test("each gives what it says, to who looks and to who imports", arguments: names)
  func vector(name: String) async throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: "\(Self.folder)/\(name)"))
    let vector = try JSONDecoder().decode(ContainerVector.self, from: data)
    let reader = try VectorReader(vector)
    let verified = await error { try await Replica.verify(reader.source, at: reader.path) }
    #expect(verified?.code.rawValue == vector.error, "\(String(describing: verified))")

    let replica = try await TestGroup.open(reader.path)
    let before = try await replica.maintenance.digest()
    let imported = await error { try await replica.import(from: reader.source) }
    #expect(imported?.code.rawValue == vector.error, "\(String(describing: imported))")
    if let expected = vector.content {
      let found = Mutex<[LoggedTransaction]>([])
      let inspection = try await replica.inspect(reader.source) { transaction in
        found.withLock { $0.append(transaction) }
      }
      var content = try ContainerVector.Content(inspection, found.withLock { $0 })
      if expected.names == nil { content.names = nil }
      #expect(content == expected)
      #expect(try await replica.maintenance.digest() != before)
      #expect(try await replica.status().staged == 0)
    } else {
      #expect(try await replica.maintenance.digest() == before)
      #expect(imported?.hint != nil, "\(String(describing: imported))")
    }
    await replica.close()
  }

  @Test("the vectors are there, good ones and one for each failure")
  func coverage() {
    #expect(Self.names.filter { $0.hasPrefix("open-") }.count >= 6)
    #expect(Self.names.filter { $0.hasPrefix("refuse-") }.count >= 40)
  }
}
