import GodwitBase
import GodwitCrypto
import GodwitKeys
import Testing

@Suite("Content hash")
struct ContentHashTests {
  @Test("the hash of abc is the one FIPS 180-4 gives")
  func abc() {
    var hasher = ContentHasher()
    hasher.update(Array("a".utf8))
    Array("bc".utf8).withUnsafeBytes { hasher.update($0) }
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    #expect(hasher.finalize().hexadecimal == expected)
    #expect(ContentHash(bytes: hasher.finalize().bytes) == hasher.finalize())
  }

  @Test("a hasher can continue after it gave a hash")
  func continues() {
    var whole = ContentHasher()
    whole.update([1, 2, 3])
    var parts = ContentHasher()
    parts.update([1, 2])
    #expect(parts.finalize() != whole.finalize())
    parts.update([3])
    #expect(parts.finalize() == whole.finalize())
  }

  @Test("only 32 bytes make a hash", arguments: [0, 31, 33])
  func otherSizes(count: Int) {
    #expect(ContentHash(bytes: [UInt8](repeating: 7, count: count)) == nil)
  }

  @Test("the zero hash is 32 zero bytes")
  func zero() {
    #expect(ContentHash.zero.bytes == [UInt8](repeating: 0, count: 32))
  }
}
