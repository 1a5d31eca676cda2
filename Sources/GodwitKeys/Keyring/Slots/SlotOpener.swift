import GodwitBase
import GodwitCrypto

/// Opens slots with the secrets that are offered, each fetched once at most.
///
/// A slot is tried when there is an offered secret for each of its factors, those first that cost nothing.
final class SlotOpener {
  enum Outcome {
    case opened(SecretBytes)
    /// No secret is offered for one of the factors, or it cannot be fetched here.
    case notOffered((any Error)?)
    case doesNotFit
    /// The slot is of another version.
    case unknown
  }

  /// All of scrypt's work in one opening: some thirty passphrases of the default cost.
  private static let workMax = 1 << 22

  private let offered: [SlotSecret]
  private var fetched: [Int: Result<SecretBytes, any Error>] = [:]
  /// A factor, and which of the offered secrets it is derived from.
  private struct Stretch: Hashable {
    let secret: Int
    let factor: SlotFactor
  }

  /// The keys of factors: who looks for a way in and opens then stretches a passphrase once.
  private var stretched: [Stretch: SecretBytes] = [:]
  /// Of scrypt's N, over all slots.
  private(set) var spentWork = 0

  init(_ offered: [SlotSecret]) { self.offered = offered }

  /// The master key by the first slot that opens, and whether a machine key file did it.
  ///
  /// Throws `noKeyFits` when none does, and `unsafeFile` for a secret that others can reach.
  func masterKey(of file: KeyringFile) throws -> (key: SecretBytes, isByMachineKey: Bool) {
    let costs = try file.slots.map { try cost($0, file) }
    let order = file.slots.indices.sorted { (costs[$0], $0) < (costs[$1], $1) }
    var failure = SlotFailure(try file.slotDescriptions())
    for index in order {
      let slot = file.slots[index]
      switch try outcome(of: slot, in: file) {
      case .opened(let masterKey): return (masterKey, slot.type == KeyringSlot.machineKeyFile)
      case .notOffered(let error): failure.noteNotOffered(index, error as? GodwitError)
      case .doesNotFit: failure.noteDoesNotFit(index)
      case .unknown: break
      }
    }
    throw failure.error
  }

  /// Whether one of these slots opens; those are tried first that cost nothing.
  func opensAny(of slots: [KeyringSlot], in file: KeyringFile) throws -> Bool {
    let costs = try slots.map { try cost($0, file) }
    return try slots.indices.sorted { (costs[$0], $0) < (costs[$1], $1) }.contains { index in
      if case .opened = try outcome(of: slots[index], in: file) { true } else { false }
    }
  }

  func outcome(of slot: KeyringSlot, in file: KeyringFile) throws -> Outcome {
    if slot.type == KeyringSlot.machineKeyFile { return try machineOutcome(slot) }
    guard let slot = try file.factorSlot(slot) else { return .unknown }
    var reason: (any Error)?
    var wasTried = false
    for choice in choices(slot.factors) {
      var keys: [SecretBytes] = []
      for (factor, index) in zip(slot.factors, choice) {
        switch try secret(index, for: factor) {
        case .success(let secret): keys.append(try key(Stretch(secret: index, factor: factor), secret))
        case .failure(let error): reason = reason ?? error
        }
      }
      guard keys.count == slot.factors.count else { continue }
      wasTried = true
      if let masterKey = try slot.masterKey(unlockedBy: keys) { return .opened(masterKey) }
    }
    return wasTried ? .doesNotFit : .notOffered(reason)
  }

  private func machineOutcome(_ slot: KeyringSlot) throws -> Outcome {
    var reason: (any Error)?
    var wasTried = false
    for index in offered.indices where offered[index].kind == .machineKey {
      switch try secret(index) {
      case .success(let key):
        wasTried = true
        if let masterKey = slot.masterKey(unlockedBy: key) { return .opened(masterKey) }
      case .failure(let error): reason = reason ?? error
      }
    }
    return wasTried ? .doesNotFit : .notOffered(reason)
  }

  /// The offered machine key that opens a slot of type 1.
  func machineKey(of slot: KeyringSlot) throws -> SecretBytes? {
    for index in offered.indices where offered[index].kind == .machineKey {
      if case .success(let key) = try secret(index), slot.masterKey(unlockedBy: key) != nil { return key }
    }
    return nil
  }

  /// Every way to take an offered secret for each factor, by their places; in the order of the offer, in which a person
  /// is asked.
  private func choices(_ factors: [SlotFactor], taken: [Int] = []) -> [[Int]] {
    guard taken.count < factors.count else { return [taken] }
    let factor = factors[taken.count]
    let takesSecond = factors.count { $0.kind == factor.kind } > 1
    return offered.indices.filter { index in
      let secret = offered[index]
      return !taken.contains(index) && secret.kind == factor.kind && (takesSecond || !secret.isSecond)
        && (factor.kind != .credential || secret.name == factor.name)
    }.flatMap { choices(factors, taken: taken + [$0]) }
  }

  /// What the factor derives its key from, of an offered secret.
  private func secret(_ index: Int, for factor: SlotFactor) throws -> Result<SecretBytes, any Error> {
    try secret(index).flatMap { fetched in Result { try offered[index].secret(for: factor, fetched) } }
  }

  private func secret(_ index: Int) throws -> Result<SecretBytes, any Error> {
    if let known = fetched[index] { return known }
    let result = Result { try offered[index].fetch() }
    // A secret that others can reach is not one; saying so matters more than opening by another.
    if case .failure(let error as GodwitError) = result, error.code == .unsafeFile { throw error }
    if case .failure(let error as CancellationError) = result { throw error }
    fetched[index] = explained(result, offered[index])
    return explained(result, offered[index])
  }

  private func explained(
    _ result: Result<SecretBytes, any Error>, _ offered: SlotSecret
  ) -> Result<SecretBytes, any Error> {
    guard let path = offered.path, case .failure(let error as GodwitError) = result, error.code == .invalidKey else {
      return result
    }
    return .failure(
      GodwitError(
        .noKeyFits, "the machine key file \(path) is damaged", hint: "restore it from a backup", underlying: error))
  }

  private func key(_ stretch: Stretch, _ secret: SecretBytes) throws -> SecretBytes {
    if let known = stretched[stretch] { return known }
    try account(stretch.factor)
    let key = try stretch.factor.key(secret)
    stretched[stretch] = key
    return key
  }

  private func account(_ factor: SlotFactor) throws {
    guard factor.cost > 0 else { return }
    spentWork += 1 << min(factor.cost, 24)
    guard spentWork <= Self.workMax else {
      throw GodwitError(
        .limitExceeded, "the keyring's passphrases cost more than this program spends on one opening",
        hint: "do not open a keyring that is not your own")
    }
  }

  private func cost(_ slot: KeyringSlot, _ file: KeyringFile) throws -> Int {
    try file.factorSlot(slot)?.factors.reduce(0) { $0 + ($1.cost == 0 ? 0 : 1 << min($1.cost, 24)) } ?? 0
  }
}
