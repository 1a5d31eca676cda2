import Foundation
import GodwitBase
import Synchronization
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

/// Specs/keyring.md, "Files on disk": what stands in the keyring's place is looked at where it was opened.
@Suite("Keyrings swapped while they are opened")
struct KeyringSwapTests {
  @Test("a link to another keyring is never followed, whenever it appears")
  func links() throws {
    let folder = try TemporaryFolder()
    func location(_ name: String) -> KeyringLocation {
      KeyringLocation(keyring: folder.path(name), machineKey: folder.path("machine-key"))
    }
    let own = try newIdentity()
    try Keyring.create(at: location("keyring"), contents: KeyringContents(identity: own))
    try Keyring.create(at: location("other"), contents: KeyringContents(identity: try newIdentity()))
    let isDone = Mutex(false)
    let path = folder.path
    let swapper = Thread {
      while !isDone.withLock({ $0 }) {
        unlink("\(path)/swap")
        symlink("\(path)/other", "\(path)/swap")
        rename("\(path)/keyring", "\(path)/real")
        rename("\(path)/swap", "\(path)/keyring")
        rename("\(path)/real", "\(path)/keyring")
      }
      isDone.withLock { $0 = false }
    }
    swapper.start()
    var refusals: Set<GodwitError.Code> = []
    var openings = 0
    let end = ContinuousClock.now + .seconds(2)
    while ContinuousClock.now < end {
      do {
        let contents = try Keyring.open(at: location("keyring"))
        #expect(contents.identity.publicIdentity == own.publicIdentity)
        openings += 1
      } catch let error as GodwitError {
        refusals.insert(error.code)
      }
    }
    isDone.withLock { $0 = true }
    while isDone.withLock({ $0 }) { usleep(1_000) }
    #expect(openings > 0)
    #expect(refusals.isSubset(of: [.unsafeFile, .missingKeyring, .fileAccess]))
    #expect(refusals.contains(.unsafeFile))
  }
}
