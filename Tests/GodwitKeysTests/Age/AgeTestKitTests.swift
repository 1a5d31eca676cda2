import Foundation
import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

/// The C2SP CCTV vectors for age, from the folder that GODWIT_AGE_TESTKIT names.
@Suite("age test kit", .enabled(if: AgeTestKit.folder != nil, "GODWIT_AGE_TESTKIT names no folder"))
struct AgeTestKitTests {
  @Test("every vector gives its class of result and releases its plaintext", arguments: AgeTestKit.names)
  func vector(name: String) throws {
    let vector = try AgeTestKit.vector(name)
    let identities = try vector.values("identity").map { try AgeIdentity($0) }
    let passphrases = vector.values("passphrase").map { SecretBytes(copying: $0.utf8) }
    var plain: [UInt8] = []
    var failure: AgeTestKit.Failure?
    do {
      let source = MemorySource(try vector.file())
      let opener = try AgeOpener(
        vector.isArmored ? AgeArmorReader(source) : source, identities: identities, passphrases: passphrases)
      do {
        plain = try readAll(opener)
      } catch let error as PartialRead {
        plain = error.plain
        failure = AgeTestKit.Failure(error.underlying, isInHeader: false)
      }
    } catch {
      failure = AgeTestKit.Failure(error, isInHeader: true)
    }
    #expect(failure?.rawValue ?? "success" == vector.values("expect").first)
    if let hash = vector.values("payload").first {
      var hasher = ContentHasher()
      hasher.update(plain)
      #expect(hasher.finalize().hexadecimal == hash)
    }
  }

  @Test("the kit was found and no vector is left out for a key this test does not know")
  func coverage() throws {
    #expect(AgeTestKit.names.count >= 70)
    let known: Set = ["expect", "payload", "identity", "passphrase", "file key", "armored", "compressed", "comment"]
    for name in AgeTestKit.names {
      #expect(known.isSuperset(of: try AgeTestKit.vector(name).fields.map(\.key)), "\(name)")
    }
  }
}

enum AgeTestKit {
  static let folder = ProcessInfo.processInfo.environment["GODWIT_AGE_TESTKIT"]

  static let names: [String] = {
    guard let folder else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { !$0.contains(".") }.sorted()
  }()

  static func vector(_ name: String) throws -> Vector { try Vector(readFile("\(try #require(folder))/\(name)")) }

  /// The kit's names for the ways a file can be wrong.
  enum Failure: String {
    case noMatch = "no match"
    case authentication = "HMAC failure"
    case header = "header failure"
    case payload = "payload failure"
    case armor = "armor failure"
    case other = "another failure"

    init(_ error: any Error, isInHeader: Bool) {
      guard let error = error as? GodwitError,
        [.notARecipient, .corruptFile, .truncatedFile, .unsupportedVersion, .limitExceeded].contains(error.code)
      else {
        self = .other
        return
      }
      self =
        if error.code == .notARecipient {
          .noMatch
        } else if error.message.hasPrefix("the age armor") {
          .armor
        } else if error.message.contains("changed after sealing") {
          .authentication
        } else {
          isInHeader ? .header : .payload
        }
    }
  }

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

    var isArmored: Bool { values("armored") == ["yes"] }

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
