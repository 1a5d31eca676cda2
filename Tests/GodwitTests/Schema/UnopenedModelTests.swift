import Godwit
import Testing

@Suite("A reference to a model that is not opened")
struct UnopenedModelTests {
  @Test("is refused when the replica opens, with the model to add")
  func refused() async throws {
    let failure = await #expect(throws: GodwitError.self) { try await Replica.temporary(models: Note.self) }
    #expect(failure?.code == .invalidSchema)
    #expect(failure?.message.contains("note") == true && failure?.message.contains("folder") == true)
    #expect(failure?.hint?.contains("folder") == true)
  }
}
