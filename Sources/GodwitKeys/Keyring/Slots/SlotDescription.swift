import Foundation
import GodwitBase

/// What a keyring file says about one of its slots.
public struct SlotDescription: Hashable, Sendable {
  /// Its place in the file, from 1.
  public let number: Int
  /// What it is called; no two slots of a keyring are called the same.
  public let label: String
  /// In milliseconds since 1970 UTC.
  package let addedAtMilliseconds: Int64?
  /// When it was added; nil when that was not recorded.
  public var addedAt: Date? { addedAtMilliseconds.map(Date.init(milliseconds:)) }
  /// Which secrets open it, all of them together: `machineKey`, `passphrase`, `credential`, `command`, `recoveryCode`.
  /// Empty for a slot of another version, which is kept as it is.
  public let factors: [String]
  /// The name of the credential it asks for.
  public let credential: String?
}

extension SlotDescription {
  /// What opens it, in words: `machine key`, `passphrase and recovery code`.
  public var needs: String {
    guard !factors.isEmpty else { return "another version of Godwit" }
    let words = [
      "machineKey": "machine key", "passphrase": "passphrase", "command": "command", "recoveryCode": "recovery code",
      "credential": "credential \(credential ?? "")",
    ]
    return factors.map { words[$0] ?? $0 }.joined(separator: " and ")
  }
}

extension KeyringFile {
  /// The slots in order. What stands here is proven only once the keyring is opened.
  ///
  /// Throws `damagedKeyring` when a slot is malformed.
  func slotDescriptions() throws -> [SlotDescription] {
    try slots.enumerated().map { index, slot in
      let number = index + 1
      if slot.type == KeyringSlot.machineKeyFile {
        let isFirst = slots.firstIndex { $0.type == slot.type } == index
        return SlotDescription(
          number: number, label: isFirst ? "machine" : "machine-\(number)", addedAtMilliseconds: nil,
          factors: ["\(SlotFactor.Kind.machineKey)"], credential: nil)
      }
      guard let known = try factorSlot(slot) else {
        return SlotDescription(
          number: number, label: "unknown-\(number)", addedAtMilliseconds: nil, factors: [], credential: nil)
      }
      return SlotDescription(
        number: number, label: known.label,
        addedAtMilliseconds: known.addedAtMilliseconds == 0 ? nil : known.addedAtMilliseconds,
        factors: known.factors.map { "\($0.kind)" }, credential: known.factors.first { $0.kind == .credential }?.name)
    }
  }

  /// Throws `damagedKeyring` for a malformed slot of type 3.
  func factorSlot(_ slot: KeyringSlot) throws -> FactorSlot? {
    do {
      return try FactorSlot(slot)
    } catch {
      throw GodwitError(
        .damagedKeyring, "a slot of the keyring is damaged", hint: "restore it from a backup", underlying: error)
    }
  }
}
