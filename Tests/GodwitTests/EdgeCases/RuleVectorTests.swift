import Testing

@Suite("Specs/vectors/rules")
struct RuleVectorTests {
  @Test(
    "a random history comes out as in a program that has nothing but the rules", arguments: VectorFile.all(in: "rules"))
  func comesOut(file: VectorFile) async throws {
    try await VectorRun.run(try file.decode(MergeVector.self), seed: nil).close()
  }

  @Test("there are histories of two replicas, of three and of four")
  func groups() throws {
    let sizes = try VectorFile.all(in: "rules").map { try $0.decode(MergeVector.self).replicas.count }
    #expect(Set(sizes) == [2, 3, 4])
  }
}
