import Foundation
import Godwit
import GodwitBase
import GodwitCore
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

/// Specs/sync-file.md, "Signatures": nothing of a container is looked at before a signature over it has been checked.
///
/// Whoever can open a file has its file key, and so can put other bytes behind the very same age header.
@Suite("Signatures in a container")
struct ContainerSignatureTests {
  private let group: TestGroup
  private let sender: Identity
  private let reader: Identity
  private let sealed: [UInt8]
  private let container: [UInt8]

  init() async throws {
    group = try await TestGroup(2)
    try await group[0].write { try $0.insert(Note(title: "signed")) }
    let path = group.folder.file("file")
    _ = try await group[0].export(to: .file(path))
    sender = try Forgery.keys(of: group[0]).identity
    reader = try Forgery.keys(of: group[1]).identity
    sealed = try Forgery.bytes(path)
    container = try Forgery.container(sealed, reader)
  }

  private func refusal(_ sealed: [UInt8]) -> GodwitError.Code? {
    do {
      let file = try SyncFileReader(MemorySource(sealed), identities: [reader.ageIdentity]) { _ in
        IdentityHistory(sender.publicIdentity)
      }
      while try file.next() != nil {}
      return nil
    } catch {
      return (error as? GodwitError)?.code
    }
  }

  @Test("every byte of the container is signed where it stands, and every cut is seen")
  func everyByte() throws {
    #expect(refusal(try Forgery.replacePayload(of: sealed, by: container, reader)) == nil)
    for place in container.indices {
      var changed = container
      changed[place] ^= 1
      let code = refusal(try Forgery.replacePayload(of: sealed, by: changed, reader))
      #expect(code != nil, "byte \(place)")
    }
    for count in stride(from: 0, to: container.count, by: 7) {
      let cut = Array(container.prefix(count))
      #expect(refusal(try Forgery.replacePayload(of: sealed, by: cut, reader)) != nil, "\(count) bytes")
    }
  }

  @Test("a container in another age file is not its sender's, though it be sealed to the same members")
  func binding() throws {
    let recipients = try Forgery.header(container).header.recipients
    #expect(refusal(try Forgery.seal(container, to: recipients)) == .invalidSignature)
    #expect(refusal(try Forgery.seal(Forgery.sign(container, by: sender), to: recipients)) == nil)
    #expect(refusal(try Forgery.seal(Forgery.sign(container, by: reader), to: recipients)) == .invalidSignature)
  }

  @Test("what a reader of a file puts behind its signed preamble and header is not unpacked")
  func replayed() throws {
    let end = try Forgery.header(container).end
    // It would unpack to another size: who unpacks it says corruptFile.
    let wrong = try Zstd(level: 3).compress([UInt8](repeating: 0, count: 1_000))
    var part = ByteWriter()
    part.byte(SyncFileFormat.Part.frame.rawValue)
    part.bigEndian(UInt32(wrong.count))
    part.bigEndian(UInt32(999))
    let hostile = container[..<end] + part.bytes + wrong + [UInt8](repeating: 0, count: 64)
    #expect(refusal(try Forgery.replacePayload(of: sealed, by: Array(hostile), reader)) == .invalidSignature)
    let own = try Forgery.seal(
      Forgery.sign(Array(hostile), by: sender), to: Forgery.header(container).header.recipients)
    #expect(refusal(own) == .corruptFile)
  }

  @Test("the places of signatures cannot take one another's")
  func places() throws {
    // A trailer's signature in the place of the frame's behind which it stands.
    let frameEnd = container.count - 64 - 8 - 1
    var moved = container
    moved.replaceSubrange(frameEnd - 64..<frameEnd, with: container.suffix(64))
    #expect(refusal(try Forgery.replacePayload(of: sealed, by: moved, reader)) == .invalidSignature)
  }

  @Test("of a stranger's file only the preamble is read, whatever its size")
  func stranger() async throws {
    let stranger = try Identity.generate(replica: sender.replica)
    // The header's bytes are none: who looks at them says so.
    let (_, end) = try Forgery.header(container)
    let forged = try Forgery.replaceHeader(
      of: container, endingAt: end, signedBy: stranger, by: [UInt8](repeating: 0xFF, count: 1 << 20))
    let file = try Forgery.seal(forged, to: Forgery.header(container).header.recipients)
    #expect(refusal(file) == .invalidSignature)
    let path = group.folder.file("stranger")
    try Data(file).write(to: URL(fileURLWithPath: path))
    let before = try await group[1].maintenance.digest()
    #expect(await code { try await group[1].import(from: .file(path)) } == .invalidSignature)
    #expect(try await group[1].maintenance.digest() == before)
  }
}
