import Foundation
import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("A file that age 1.1.1 sealed")
struct AgeGoldenTests {
  /// Made for this test and used nowhere else.
  static let identity = "AGE-SECRET-KEY-12788LZ79U9LSKL4QPGXDZ7NDE4CTS3NQ3KRN96QDU7ZAVKWMXL3Q9M3UQC"
  static let recipient = "age1pep0l78d5yk6396g5n8dkpqe6g3s7hpydrchl2nx8yv5ppt63fmsy42kr4"
  static let sealed = """
    YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBEMEJ1VDkyN09aNDVEZVJ3M1dyMGZWb3o5RE5DRTlXZ2ZYamIvNFpp
    eHlrCkhWNGtBTzU0aFJWTHN0dlVYOFkzcVdwM3pIQ1lKczQ2UDJUNit4MnFkc28KLS0tIDFMejg5eW0xdDB2ZE91SHBaWENS
    ZUFvU0djNEx5SXk0WWw1Z1cvT0U4RG8K0/luWsj9odtig/ZBZ+LTSx2FNoswe7mGB5xf20VHLZQuwm/6yXCriev9zmtqC06h
    OV8tOwpjkKuIWK/EqRaAVb4raNb0vOXvaI8=
    """

  @Test("it opens with its identity, whose recipient the program also knows")
  func opens() throws {
    let bytes = Array(try #require(Data(base64Encoded: Self.sealed, options: .ignoreUnknownCharacters)))
    let identity = try AgeIdentity(Self.identity)
    #expect(identity.recipient.text == Self.recipient)
    let opened = open(bytes, with: [identity])
    #expect(opened.error == nil)
    #expect(String(decoding: opened.plain, as: UTF8.self) == "A godwit flies eleven thousand kilometres.")
  }
}
