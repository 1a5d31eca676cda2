import Foundation
import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Base64 of age")
struct Base64Tests {
  @Test("every length reads back as written and agrees with Foundation", arguments: 0...66)
  func roundTrip(count: Int) {
    let bytes = randomBytes(count)
    let text = Base64.encode(bytes)
    #expect(String(decoding: text, as: UTF8.self) == Data(bytes).base64EncodedString().filter { $0 != "=" })
    #expect(Base64.decode(text) == bytes)
  }

  @Test(
    "padding, other alphabets, spaces, impossible lengths and surplus bits are refused",
    arguments: ["AA==", "A", "AAAAA", "A-_A", "AA A", "AB", "AAB", "AAA\n"])
  func refused(text: String) {
    #expect(Base64.decode(Array(text.utf8)) == nil)
  }
}
