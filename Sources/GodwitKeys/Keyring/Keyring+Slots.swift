import GodwitBase
import GodwitCrypto

extension SlotDescription {
  /// What came of trying a slot.
  public enum Test: Hashable, Sendable {
    /// It opens with what was offered.
    case opens
    /// What was offered is not its secret.
    case doesNotFit
    /// One of its secrets was not offered or is not there; a word about why.
    case notTried(String?)
    /// It is of another version.
    case unknown
  }
}

extension Keyring {
  /// The slots as the file lists them, unproven, and its generation. Opens nothing.
  package static func slots(at path: String) throws -> (generation: UInt64, slots: [SlotDescription]) {
    let file = try read(path)
    return (file.generation, try file.slotDescriptions())
  }

  /// Tries every slot with what is offered, and proves the keyring whole when one opens.
  package static func test(at location: KeyringLocation) throws -> [(
    slot: SlotDescription, result: SlotDescription.Test
  )] {
    let file = try read(location.keyring)
    let opener = SlotOpener(location.secrets)
    return try zip(file.slotDescriptions(), file.slots).map { description, slot in
      switch try opener.outcome(of: slot, in: file) {
      case .opened(let masterKey):
        _ = try file.contents(masterKey: masterKey)
        return (description, .opens)
      case .notOffered(let error as GodwitError):
        let place = error.code == .invalidKey ? error.hint.map { "; \($0)" } ?? "" : ""
        return (description, .notTried(error.message + place))
      case .notOffered: return (description, .notTried(nil))
      case .doesNotFit: return (description, .doesNotFit)
      case .unknown: return (description, .unknown)
      }
    }
  }

  /// Adds a slot that one secret opens, or two together.
  ///
  /// - Parameters:
  ///   - cost: What a passphrase, or another secret that is not a random key, is stretched by (scrypt, 2^cost KiB).
  ///   - known: Returns a generation that has been seen.
  /// - Throws: `rolledBackKeyring` for one of an earlier generation than was seen; `invalidArgument` for a label that
  ///   is taken or cannot be one, for other than one or two secrets, for two that are the same, and for a secret that
  ///   is too short; otherwise what ``open(at:)`` and fetching the secrets throw.
  package static func addSlot(
    at location: KeyringLocation, label: String, secrets: [SlotSecret], cost: Int = Scrypt.costDefault,
    milliseconds: Int64, notBefore known: KnownGeneration? = nil
  ) throws {
    guard (1...FactorSlot.factorCountMax).contains(secrets.count) else {
      throw GodwitError(.invalidArgument, "a slot needs one secret, or two")
    }
    guard !label.isEmpty, MemberName.isAcceptable(label), Int(label) == nil else {
      throw GodwitError(
        .invalidArgument,
        "a slot's label has 1 to \(MemberName.byteCountMax) bytes, no control characters, and is no number")
    }
    func requireFree(_ descriptions: [SlotDescription]) throws {
      guard !descriptions.contains(where: { $0.label == label }) else {
        throw GodwitError(.invalidArgument, "there is a slot called \(label) already", hint: "choose another label")
      }
    }
    try requireFree(slots(at: location.keyring).slots)
    try prepare(at: location)
    let factors = try secrets.map { try $0.newFactor(cost: cost) }
    guard factors.count == 1 || factors[0].secret != factors[1].secret else {
      throw GodwitError(
        .invalidArgument, "the two secrets are the same", hint: "give two different ones, or one alone")
    }
    try rewrite(location, notBefore: known) { opened in
      try requireFree(opened.file.slotDescriptions())
      let (slot, token) = try FactorSlot.new(
        wrapping: opened.masterKey, label: label, addedAt: milliseconds, factors: factors)
      opened.slots.append(slot.slot)
      opened.contents.setSlotTokens(try opened.contents.slotTokens + [token])
    }
  }

  /// Drops a slot, by its label or number, and takes a new master key, so that what the slot opened once opens nothing
  /// that is written from now on. Earlier copies of the file stay open to whoever has them and the slot's secret.
  ///
  /// One of the slots that remain must open with what is offered: what nobody has seen open may lock everybody out.
  ///
  /// - Parameters:
  ///   - isForced: Whether to do without that.
  ///   - known: Returns a generation that has been seen.
  /// - Throws: `notFound` when there is no such slot, `invalidArgument` for the last one that this version knows,
  ///   `noKeyFits` when none of the others opens; otherwise as ``rotateMasterKey(at:dropping:isForced:)``.
  package static func removeSlot(
    at location: KeyringLocation, _ name: String, isForced: Bool = false, notBefore known: KnownGeneration? = nil
  ) throws -> SlotDescription {
    let removed = try slots(at: location.keyring).slots.first { $0.label == name || "\($0.number)" == name }
    guard let removed else {
      throw GodwitError(.notFound, "there is no slot called \(name)", hint: "see: godwit keyring list")
    }
    try rotateMasterKey(at: location, dropping: [removed], isForced: isForced, notBefore: known)
    return removed
  }

  /// Seals the keyring under a new master key and gives that to every slot.
  ///
  /// - Parameters:
  ///   - dropping: Slots that do not get it.
  ///   - isForced: Whether slots are dropped though none of the others opens with what is offered.
  ///   - known: Returns a generation that has been seen.
  /// - Throws: `rolledBackKeyring` for one of an earlier generation than was seen; `noKeyFits` when a machine slot's
  ///   key is not offered, or a slot is of another version: these cannot be given the new key, only dropped; `busy`
  ///   when the slots are no longer those to drop.
  package static func rotateMasterKey(
    at location: KeyringLocation, dropping: [SlotDescription] = [], isForced: Bool = false,
    notBefore known: KnownGeneration? = nil
  ) throws {
    // One for all, so that nobody is asked twice, nor while the file is locked.
    let opener = SlotOpener(location.secrets)
    var wayIn: [SlotDescription] = []
    if !dropping.isEmpty, !isForced {
      let file = try read(location.keyring)
      let remaining = try remaining(file, dropping)
      do {
        if try opener.opensAny(of: remaining.map(\.slot), in: file) { wayIn = remaining.map(\.description) }
      } catch let error as CancellationError {
        throw error
      } catch {
        // It fails again where it matters.
      }
    }
    try rewrite(location, opener, notBefore: known) { opened in
      let descriptions = try opened.file.slotDescriptions()
      guard dropping.allSatisfy(descriptions.contains) else {
        throw GodwitError(.busy, "the keyring's slots were changed meanwhile", hint: "try again")
      }
      let masterKey = SecretBytes(random: KeyringSlot.masterKeyByteCount)
      let staying = zip(descriptions, opened.slots).filter { !dropping.contains($0.0) }
      try rewrap(staying.map { ($0, $1) }, in: &opened, masterKey, opener)
      guard
        try opened.slots.contains(where: { slot in
          try slot.type == KeyringSlot.machineKeyFile || opened.file.factorSlot(slot) != nil
        })
      else {
        throw GodwitError(
          .invalidArgument, "this is the last slot; without it nobody could open the keyring",
          hint: "add another slot first: godwit keyring add")
      }
      if !dropping.isEmpty, !isForced, try remaining(opened.file, dropping).map(\.description) != wayIn {
        try requireWayIn(opened, dropping, opener)
      }
      opened.masterKey = masterKey
    }
  }

  /// Leaves these slots alone in the keyring, with another master key each, and their tokens.
  private static func rewrap(
    _ slots: [(description: SlotDescription, slot: KeyringSlot)], in opened: inout Opened, _ masterKey: SecretBytes,
    _ opener: SlotOpener
  ) throws {
    let tokens = try opened.contents.slotTokens
    var kept: [SlotToken] = []
    opened.slots = try slots.map { description, slot in
      if slot.type == KeyringSlot.machineKeyFile, let machineKey = try opener.machineKey(of: slot) {
        return try KeyringSlot(wrapping: masterKey, with: machineKey)
      }
      guard let known = try opened.file.factorSlot(slot), let token = tokens.first(where: { $0.slotID == known.id })
      else {
        let removal = "remove the slot first: godwit keyring remove \(description.number)"
        throw GodwitError(
          .noKeyFits, "slot \(description.label) cannot be given a new master key",
          hint: slot.type == KeyringSlot.machineKeyFile ? "offer its machine key too, or \(removal)" : removal)
      }
      kept.append(token)
      return try known.rewrapped(masterKey, token).slot
    }
    opened.contents.setSlotTokens(kept)
  }

  private static func remaining(
    _ file: KeyringFile, _ dropping: [SlotDescription]
  ) throws -> [(description: SlotDescription, slot: KeyringSlot)] {
    try zip(file.slotDescriptions(), file.slots).filter { !dropping.contains($0.0) }.map { ($0, $1) }
  }

  /// Throws `noKeyFits` when no slot that remains opens with what is offered.
  private static func requireWayIn(_ opened: Opened, _ dropping: [SlotDescription], _ opener: SlotOpener) throws {
    let remaining = try remaining(opened.file, dropping)
    guard try !opener.opensAny(of: remaining.map(\.slot), in: opened.file) else { return }
    throw GodwitError(
      .noKeyFits,
      "nothing that is offered opens a slot that would remain (\(remaining.map(\.description.label).joined(separator: ", "))); "
        + "nothing was removed",
      hint: "offer the secret of one of them as well (see: godwit keyring test); to remove it nevertheless: --force")
  }

  /// Raises the generation above one that the database has seen, once a person has said that this keyring, though
  /// older, is the one to continue with.
  package static func accept(at location: KeyringLocation, above generation: UInt64) throws {
    try rewrite(location) { $0.generation = max($0.generation, generation) }
  }
}
