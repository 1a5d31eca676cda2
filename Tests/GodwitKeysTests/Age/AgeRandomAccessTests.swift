import Foundation
import GodwitBase
import GodwitFiles
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Opening from any place")
struct AgeRandomAccessTests {
  private func access(_ sealed: [UInt8], _ identity: AgeIdentity) throws -> AgeRandomAccess {
    try AgeRandomAccess(MemoryFile(sealed), identities: [identity])
  }

  @Test("the size is known and any part can be read", arguments: [0, 1, 65_536, 65_537, 200_000])
  func parts(count: Int) throws {
    let identity = try newAgeIdentity()
    let plain = randomBytes(count)
    let access = try access(seal(plain, to: [identity.recipient]), identity)
    #expect(access.byteCount == count)
    #expect(try readAll(access) == plain)
    for offset in [count - 1, 70_000, 65_535, 3, count, count + 1, .max] where offset >= 0 {
      var buffer = [UInt8](repeating: 0, count: 10)
      let read = try buffer.withUnsafeMutableBytes { try access.read(at: offset, into: $0) }
      let end = offset >= count ? offset : min(offset + 10, count, (offset / 65_536 + 1) * 65_536)
      #expect(Array(buffer[..<read]) == (offset >= count ? [] : Array(plain[offset..<end])))
    }
    var byte: UInt8 = 0
    #expect(
      code { _ = try withUnsafeMutableBytes(of: &byte) { try access.read(at: -1, into: $0) } } == .invalidArgument)
  }

  @Test("a file that was cut or extended is refused before anything is read", arguments: [65_536, 200_000])
  func cut(count: Int) throws {
    let identity = try newAgeIdentity()
    let sealed = try seal(randomBytes(count), to: [identity.recipient])
    for cut in [1, 16, 17, 3_000, 65_552] {
      #expect(throws: GodwitError.self) { try access(Array(sealed.dropLast(cut)), identity) }
    }
    #expect(throws: GodwitError.self) { try access(sealed + [0], identity) }
    #expect(throws: GodwitError.self) { try access(sealed + sealed.suffix(65_552), identity) }
  }

  @Test("a changed chunk is refused, others are read")
  func changed() throws {
    let identity = try newAgeIdentity()
    let plain = randomBytes(3 * 65_536)
    var sealed = try seal(plain, to: [identity.recipient])
    sealed[sealed.count - 2 * 65_552 + 9] ^= 1
    let access = try access(sealed, identity)
    var buffer = [UInt8](repeating: 0, count: 65_536)
    #expect(try buffer.withUnsafeMutableBytes { try access.read(at: 131_072, into: $0) } == 65_536)
    #expect(buffer == Array(plain[131_072...]))
    #expect(code { _ = try buffer.withUnsafeMutableBytes { try access.read(at: 70_000, into: $0) } } == .corruptFile)
    #expect(try buffer.withUnsafeMutableBytes { try access.read(at: 0, into: $0) } == 65_536)
  }

  @Test("a file on disk is read so")
  func file() throws {
    let folder = try TemporaryFolder()
    let identity = try newAgeIdentity()
    let plain = randomBytes(150_000)
    try writeFile(folder.path("sealed"), seal(plain, to: [identity.recipient]))
    let file = try FileDescriptor.openForReading(folder.path("sealed"))
    #expect(try readAll(AgeRandomAccess(file, identities: [identity])) == plain)
  }
}
