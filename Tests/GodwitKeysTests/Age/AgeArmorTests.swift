import GodwitBase
import TestAge
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Armor")
struct AgeArmorTests {
  private func armored(_ bytes: [UInt8], writing size: Int = 1_000) throws -> [UInt8] {
    let sink = MemorySink()
    let writer = AgeArmorWriter(to: sink)
    for start in stride(from: 0, to: bytes.count, by: size) {
      try writer.write(Array(bytes[start..<min(start + size, bytes.count)]))
    }
    try writer.finish()
    return sink.bytes
  }

  private func unarmored(_ text: [UInt8]) throws -> [UInt8] {
    try AgeArmorReader(MemorySource(text)).readToEnd(limit: 1 << 20)
  }

  private func failure(_ text: String) -> GodwitError.Code? { code { _ = try unarmored(Array(text.utf8)) } }

  @Test("armor reads back as written", arguments: [0, 1, 2, 3, 47, 48, 49, 96, 5_000], [1, 47, 1_000])
  func roundTrip(count: Int, size: Int) throws {
    let bytes = randomBytes(count)
    let text = try armored(bytes, writing: size)
    #expect(try unarmored(text) == bytes)
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.first == "-----BEGIN AGE ENCRYPTED FILE-----")
    #expect(lines.suffix(2) == ["-----END AGE ENCRYPTED FILE-----", ""])
    #expect(lines.dropFirst().dropLast(3).allSatisfy { $0.count == 64 })
  }

  @Test("an armored file opens where armor is allowed and is named where not")
  func sealed() throws {
    let identity = try newAgeIdentity()
    let text = try armored(try seal([1, 2, 3], to: [identity.recipient]))
    let opener = try AgeOpener(MemorySource(text), identities: [identity], allowsArmor: true)
    #expect(try opener.readToEnd(limit: 10) == [1, 2, 3])
    #expect(open(text, with: [identity]).error?.code == .unsupportedVersion)
  }

  @Test("what is binary already passes through")
  func binary() throws {
    let bytes = Array("age-encryption".utf8)
    #expect(try AgeArmorReader.unwrappingArmor(MemorySource(bytes)).readToEnd(limit: 100) == bytes)
  }

  private static let begin = "-----BEGIN AGE ENCRYPTED FILE-----\n"
  private static let end = "-----END AGE ENCRYPTED FILE-----"
  private static let whole = String(repeating: "A", count: 64) + "\n"

  @Test(
    "CRLF, no last line feed, and space around are accepted",
    arguments: [
      begin + "QUJD\n" + end, begin + "QUJD\n" + end + "\r\n \t\n", " \r\n\n" + begin + "QUJD\n" + end + "\n",
      "-----BEGIN AGE ENCRYPTED FILE-----\r\nQUJD\r\n-----END AGE ENCRYPTED FILE-----\r\n",
    ])
  func accepted(text: String) throws { #expect(try unarmored(Array(text.utf8)) == Array("ABC".utf8)) }

  @Test(
    "anything else is refused",
    arguments: [
      "x" + begin + "QUJD\n" + end, "-\n" + begin, begin + "\n" + end, begin + "QUJD\n\n" + end,
      begin + whole + "\n" + end, begin + "QUI\n" + end, begin + "QUI==\n" + end, begin + "QUK=\n" + end,
      begin + "QQ=\n=\n" + end, begin + "====\n" + end, begin + "Q===\n" + end, begin + "QUJD\nQUJD\n" + end,
      begin + " QUJD\n" + end, begin + "QUJD \n" + end, begin + "QU\rJD\n" + end, begin + "QUJD\n " + end,
      begin + "QUJD\n" + end + " x", begin + "QUJD\n" + end + end, begin + "QUJD\n=aaaa\n" + end,
      begin + whole.dropLast() + "QUJD\n" + end, begin.lowercased() + "QUJD\n" + end,
      begin + "Comment: x\n\nQUJD\n" + end, begin + "QUJD\n" + end + String(repeating: "\n", count: 1_026),
      String(repeating: "\n", count: 1_025) + begin + "QUJD\n" + end, begin + "QUJD\n-----END X-----\n",
    ])
  func refused(text: String) { #expect(failure(text) == .corruptFile) }

  @Test(
    "armor without its end line is cut", arguments: [begin, begin + whole, begin + "QUJD\n", String(begin.dropLast())])
  func cut(text: String) { #expect(failure(text) == .truncatedFile) }
}
