import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Bech32")
struct Bech32Tests {
  @Test(
    "the valid strings of BIP 173 are read",
    arguments: [
      "A12UEL5L", "a12uel5l", "?1ezyfcl",
      "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs",
      "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw",
      "11" + String(repeating: "q", count: 82) + "c8247j",
      "split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w",
    ])
  func valid(text: String) throws {
    let (prefix, data) = try Bech32.decode(Array(text.utf8), what: "the text")
    #expect(text.hasPrefix(prefix + "1"))
    if text.count < 80 {  // the long one has padding that an encoder does not make
      let again = String(decoding: Bech32.encode(prefix: prefix, data: data), as: UTF8.self)
      #expect(again == text)
    }
  }

  @Test(
    "the invalid strings of BIP 173 are refused",
    arguments: [
      " 1nwldj5", "\u{7F}1axkwrx", "\u{80}1eym55h", "pzry9x0s0muk", "1pzry9x0s0muk", "x1b4n0q5v", "li1dgmt3",
      "de1lg7wt\u{FF}", "A1G7SGD8", "10a06t8", "1qzzfhee", "", "1", "a12UEL5L",
    ])
  func invalid(text: String) {
    #expect(code { _ = try Bech32.decode(Array(text.utf8), what: "the text") } == .invalidKey)
  }

  @Test("every length reads back, in the case of its prefix", arguments: [0, 1, 2, 3, 4, 5, 31, 32, 81, 200])
  func roundTrip(count: Int) throws {
    let data = randomBytes(count)
    for prefix in ["godwit", "AGE-SECRET-KEY-"] {
      let text = Bech32.encode(prefix: prefix, data: data)
      let decoded = try Bech32.decode(text, what: "the text")
      #expect(decoded.prefix == prefix)
      #expect(decoded.data == data)
      let shown = String(decoding: text, as: UTF8.self)
      #expect(shown == (prefix == "godwit" ? shown.lowercased() : shown.uppercased()))
    }
  }
}
