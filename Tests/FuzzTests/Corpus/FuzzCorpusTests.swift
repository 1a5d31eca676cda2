import Foundation
import GodwitBase
import Testing

/// What fuzzing reached, and every input that it found a fault by (Specs/fuzz.md).
@Suite("Inputs that fuzzing kept")
struct FuzzCorpusTests {
  @Test("every input is refused or read as it should be", arguments: FuzzTarget.all.map(\.name))
  func judged(name: String) throws {
    let target = try #require(FuzzTarget.named(name))
    let inputs = try FuzzCorpus.inputs(of: name)
    #expect(inputs.count > 1, "nothing to begin with")
    for input in inputs { #expect(throws: Never.self, "\(name)/\(input.name)") { try target.judge(input.bytes) } }
  }

  @Test("each decoder reads some of its inputs to the end, so that what is checked after is checked")
  func accepted() throws {
    for target in FuzzTarget.all {
      let isRead = try FuzzCorpus.inputs(of: target.name).contains { (try? target.decode($0.bytes)) != nil }
      #expect(isRead, "\(target.name) refuses everything")
    }
  }

  @Test("what the corpus starts from is what the decoders' writers write now", arguments: FuzzTarget.all.map(\.name))
  func starts(name: String) throws {
    let target = try #require(FuzzTarget.named(name))
    let folder = FuzzCorpus.folder.appendingPathComponent(name)
    let (starts, again) = (try target.starts(), try target.starts())
    for (start, bytes) in starts {
      let file = folder.appendingPathComponent(start)
      // What is sealed is never the same twice; the tests above read it.
      let isSealed = again[start] != bytes
      if Self.isRecording, !isSealed || !FileManager.default.fileExists(atPath: file.path) {
        try Data(bytes).write(to: file)
      }
      let kept = Array(try Data(contentsOf: file))
      #expect(isSealed || kept == bytes, "\(name)/\(start) is of an older form: GODWIT_RECORD_GOLDEN=1 makes it anew")
    }
  }

  private static let isRecording = ProcessInfo.processInfo.environment["GODWIT_RECORD_GOLDEN"] != nil

  @Test(
    "every prefix, and every input with one bit changed, is refused or read as it should be",
    arguments: FuzzTarget.all.map(\.name))
  func near(name: String) throws {
    let target = try #require(FuzzTarget.named(name))
    for (start, bytes) in try target.starts() where bytes.count < 400 {
      for place in stride(from: 0, to: bytes.count, by: 1 + bytes.count / 40) {
        var changed = bytes
        changed[place] ^= 1 << UInt8(place % 8)
        for input in [changed, Array(bytes.prefix(place))] {
          #expect(throws: Never.self, "\(name), \(start) at \(place)") { try target.judge(input) }
        }
      }
    }
  }

  @Test("there are inputs for each decoder and for no others, and all of them together are small")
  func folders() throws {
    let names = Set(FuzzTarget.all.map(\.name))
    let found = try FuzzCorpus.targets()
    #expect(found.folders == names && found.archives == names)
    let sizes = try names.flatMap { try FuzzCorpus.inputs(of: $0).map(\.bytes.count) }
    #expect(sizes.reduce(0, +) < 2 << 20)
  }

  @Test("a fault is reported, whichever error it shows by, and a refusal is none")
  func faults() throws {
    func target(_ error: any Error) -> FuzzTarget {
      FuzzTarget(name: "x", decode: { _ in throw error }, starts: { [:] })
    }
    #expect(throws: FuzzFault.self) { try target(FuzzFault(description: "it is wrong")).judge([]) }
    #expect(throws: CocoaError.self) { try target(CocoaError(.featureUnsupported)).judge([]) }
    try target(GodwitError(.corruptFile, "refused")).judge([])
  }
}
