import Foundation
import Godwit
import Testing

@Suite("Progress")
struct ProgressTests {
  @Test("rises from 0 to 1 and never falls, for exports, imports and state files")
  func rises() async throws {
    let group = try await TestGroup(2)
    for number in 0..<40 { try await group[0].insertNotes(["\(number)"]) }
    let path = group.folder.file("changes")
    let stateFile = group.folder.file("stateFile")
    let (exported, imported, written) = (Heard(), Heard(), Heard())

    _ = try await group[0].export(to: .file(path), progress: exported.hear)
    _ = try await group[1].import(from: .file(path), progress: imported.hear)
    _ = try await group[0].exportState(to: .file(stateFile), progress: written.hear)

    for heard in [exported, imported, written] {
      let values = heard.values.withLock { $0 }
      #expect(values.first == 0 && values.last == 1)
      #expect(values == values.sorted())
    }
    #expect(imported.values.withLock { $0.count } > 20)
  }
}
