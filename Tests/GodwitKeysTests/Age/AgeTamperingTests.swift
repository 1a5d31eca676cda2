import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Changed, cut and extended files")
struct AgeTamperingTests {
  @Test("a small file is refused whichever byte is changed", arguments: [0x01, 0x20, 0x80] as [UInt8])
  func everyByte(mask: UInt8) throws {
    let identity = try newAgeIdentity()
    let sealed = try seal(Array("marker".utf8), to: [identity.recipient])
    let expected: Set<GodwitError.Code> = [.corruptFile, .truncatedFile, .unsupportedVersion, .notARecipient]
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= mask
      let opened = open(changed, with: [identity])
      #expect(opened.error.map { expected.contains($0.code) } == true, "byte \(index)")
      #expect(opened.plain.isEmpty, "byte \(index)")
    }
  }

  @Test("a small file is refused at whichever length it is cut")
  func everyLength() throws {
    let identity = try newAgeIdentity()
    let sealed = try seal(Array("marker".utf8), to: [identity.recipient])
    for count in sealed.indices {
      let opened = open(Array(sealed[..<count]), with: [identity])
      // A final chunk cut within cannot be distinguished from a changed one.
      let isInsideChunk = count >= sealed.count - 6
      #expect(opened.error?.code == (isInsideChunk ? .corruptFile : .truncatedFile), "length \(count)")
      #expect(opened.plain.isEmpty)
    }
  }

  @Test("a file cut between chunks is truncated, though its chunks are authentic")
  func cutBetweenChunks() throws {
    let identity = try newAgeIdentity()
    let plain = randomBytes(3 * 65_536)
    let sealed = try seal(plain, to: [identity.recipient])
    for chunkCount in 1...2 {
      let opened = open(Array(sealed.dropLast((3 - chunkCount) * 65_552)), with: [identity])
      #expect(opened.error?.code == .truncatedFile)
      #expect(opened.plain == Array(plain[..<(chunkCount * 65_536)]))
    }
    #expect(open(Array(sealed.dropLast(65_552 - 5)), with: [identity]).error?.code == .truncatedFile)
  }

  @Test("bytes after the end are refused", arguments: [1, 65_537, 3 * 65_536])
  func appended(count: Int) throws {
    let identity = try newAgeIdentity()
    let sealed = try seal(randomBytes(count), to: [identity.recipient])
    #expect(open(sealed + [0], with: [identity]).error?.code == .corruptFile)
    #expect(open(sealed + [0x0A], with: [identity]).error?.code == .corruptFile)
    #expect(open(sealed + sealed, with: [identity]).error?.code == .corruptFile)
  }

  @Test("chunks exchanged, repeated or left out are refused")
  func reorderedChunks() throws {
    let identity = try newAgeIdentity()
    let sealed = try seal(randomBytes(3 * 65_536), to: [identity.recipient])
    let head = Array(sealed[..<(sealed.count - 3 * 65_552)])
    let chunks = (0..<3).map { Array(sealed[(head.count + $0 * 65_552)..<(head.count + ($0 + 1) * 65_552)]) }
    for order in [[1, 0, 2], [0, 0, 2], [0, 2], [2], [0, 1, 1]] {
      let changed = head + order.flatMap { chunks[$0] }
      #expect(open(changed, with: [identity]).error?.code == .corruptFile, "order \(order)")
    }
  }

  @Test("an error stays: reading on does not get past it")
  func errorStays() throws {
    let identity = try newAgeIdentity()
    var sealed = try seal(randomBytes(3 * 65_536), to: [identity.recipient])
    sealed[sealed.count - 2 * 65_552 + 5] ^= 1
    let opener = try AgeOpener(MemorySource(sealed), identities: [identity])
    _ = try opener.readExactly(65_536)
    for _ in 0..<3 { #expect(code { _ = try opener.readExactly(1) } == .corruptFile) }
  }

  @Test("a payload moved under another file's header is refused")
  func exchangedHeader() throws {
    let identity = try newAgeIdentity()
    let first = try seal([1, 2, 3], to: [identity.recipient])
    let second = try seal([1, 2, 3], to: [identity.recipient])
    let mixed = Array(first.dropLast(19 + 16) + second.suffix(19 + 16))
    #expect(open(mixed, with: [identity]).error?.code == .corruptFile)
  }
}
