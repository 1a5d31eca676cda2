import GodwitBase
import GodwitFiles

@testable import GodwitCrypto
@testable import GodwitKeys

/// Keyrings to start from.
enum KeyStarts {
  static let place = FilePlace(inode: 1, generation: 2)

  static func contents() throws -> [String: KeyringContents] {
    let databaseKey = SecretBytes(copying: [UInt8](repeating: 5, count: 32))
    let empty = KeyringContents(identity: try FuzzKeys.identity(1), databaseKey: databaseKey)
    var full = empty
    full.databaseSalt = [UInt8](repeating: 6, count: 16)
    full.group = FuzzKeys.group
    full.members = try [FuzzKeys.record(1), FuzzKeys.record(2)]
    var pending = full
    pending.setPendingDatabase(PendingDatabase(key: databaseKey, salt: full.databaseSalt))
    return [
      "empty": empty, "full": full, "pending": pending,
      "hybrid": KeyringContents(identity: try FuzzKeys.identity(1, .hybrid), databaseKey: databaseKey),
    ]
  }

  static func keyrings() throws -> [String: [UInt8]] {
    let master = SecretBytes(copying: [UInt8](repeating: 8, count: KeyringSlot.masterKeyByteCount))
    let machine = try KeyringSlot(wrapping: master, with: SecretBytes(copying: [UInt8](repeating: 9, count: 32)))
    func slot(_ kinds: [SlotFactor.Kind]) throws -> KeyringSlot {
      let factors = kinds.map { kind in
        (
          factor: SlotFactor(kind: kind, cost: kind == .passphrase ? 1 : 0, name: kind == .credential ? "name" : ""),
          secret: FuzzKeys.passphrase
        )
      }
      return try FactorSlot.new(
        wrapping: master, label: "label", addedAt: 1_700_000_000_000, factors: factors
      ).slot.slot
    }
    let slots: [String: [KeyringSlot]] = [
      "machine": [machine], "passphrase": [machine, try slot([.passphrase])],
      "both": [try slot([.machineKey, .credential])], "unknown": [KeyringSlot(type: 200, body: [1, 2, 3])], "none": [],
    ]
    let contents = try contents()["full"]
    return try slots.mapValues { slots in
      guard let contents else { return [] }
      return try KeyringFile(sealing: contents, generation: 4, slots: slots, masterKey: master).bytes
    }
  }
}
