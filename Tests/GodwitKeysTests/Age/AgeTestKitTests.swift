import Foundation
import GodwitBase
import Testing

@testable import GodwitKeys

/// The C2SP CCTV vectors for age, from the folder that GODWIT_AGE_TESTKIT names.
@Suite("age test kit", .enabled(if: AgeTestKit.folder != nil))
struct AgeTestKitTests {
  @Test("every vector for X25519 identities gives its result", arguments: AgeTestKit.names)
  func vector(name: String) throws {
    let folder = try #require(AgeTestKit.folder)
    let vector = try AgeTestKit.Vector(readFile("\(folder)/\(name)"))
    let identities = try vector.values("identity").map { try AgeIdentity($0) }
    let opened = open(try vector.file(), with: identities, reading: 10_000)
    let expected: Set<GodwitError.Code>
    switch vector.values("expect") {
    case ["success"]: expected = []
    case ["no match"]: expected = [.notARecipient]
    case ["HMAC failure"]: expected = [.corruptFile]
    case ["header failure"], ["payload failure"]: expected = [.corruptFile, .truncatedFile, .unsupportedVersion]
    case let other:
      Issue.record("unknown expectation \(other)")
      return
    }
    if let error = opened.error {
      #expect(expected.contains(error.code), "\(error)")
    } else {
      #expect(expected.isEmpty)
    }
    if let hash = vector.values("payload").first {
      var hasher = ContentHasher()
      hasher.update(opened.plain)
      #expect(hasher.finalize().hexadecimal == hash)
    }
  }

  @Test("the kit was found and has vectors to try")
  func coverage() {
    #expect(AgeTestKit.names.count >= 30)
  }
}

enum AgeTestKit {
  static let folder = ProcessInfo.processInfo.environment["GODWIT_AGE_TESTKIT"]

  /// The vectors that this version can try.
  static let names: [String] = {
    guard let folder else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.sorted().filter { name in
      guard !name.contains("."), let bytes = try? readFile("\(folder)/\(name)") else { return false }
      return (try? Vector(bytes))?.isForX25519 ?? true
    }
  }()

  /// Lines `key: value`, an empty line, an age file.
  struct Vector {
    let fields: [(key: String, value: String)]
    let rest: [UInt8]

    init(_ bytes: [UInt8]) throws {
      var fields: [(String, String)] = []
      var position = 0
      while let end = bytes[position...].firstIndex(of: 0x0A) {
        let line = String(decoding: bytes[position..<end], as: UTF8.self)
        position = end + 1
        if line.isEmpty { break }
        let colon = try #require(line.range(of: ": "))
        fields.append((String(line[..<colon.lowerBound]), String(line[colon.upperBound...])))
      }
      self.fields = fields
      rest = Array(bytes[position...])
    }

    func values(_ key: String) -> [String] { fields.filter { $0.key == key }.map(\.value) }

    /// Not armored, no passphrase, no hybrid identity: what this version opens.
    var isForX25519: Bool {
      values("armored").isEmpty && values("passphrase").isEmpty && !values("identity").isEmpty
        && values("identity").allSatisfy { $0.hasPrefix("AGE-SECRET-KEY-1") }
    }

    /// The age file; Python unpacks the compressed ones, as Foundation on Linux has no zlib.
    func file() throws -> [UInt8] {
      guard values("compressed") == ["zlib"] else { return rest }
      let folder = try TemporaryFolder()
      let python = try #require(Programs.find("python3"))
      try writeFile(folder.path("packed"), rest)
      let script = "import sys, zlib; sys.stdout.buffer.write(zlib.decompress(sys.stdin.buffer.read()))"
      let status = try Programs.run(
        python, ["-c", script], input: folder.path("packed"), output: folder.path("unpacked"))
      #expect(status == 0)
      return try readFile(folder.path("unpacked"))
    }
  }
}
