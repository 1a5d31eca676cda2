import GodwitBase

/// Why none of a keyring's slots opens, each reason once: what was tried and does not fit comes first.
struct SlotFailure {
  private let slots: [SlotDescription]
  private var unfitting: [String] = []
  private var lacking: [String] = []
  private var hints: [String] = []
  /// Where a secret that was typed has a mistake.
  private var slip: String?

  init(_ slots: [SlotDescription]) { self.slots = slots }

  mutating func noteDoesNotFit(_ index: Int) {
    let slot = slots[index]
    unfitting.append(
      slot.factors == ["machineKey"] && slot.addedAtMilliseconds == nil
        ? "the machine key does not open the keyring" : "what is offered does not open slot \(slot.label)")
  }

  /// - Parameter error: Why a secret that is offered is not there.
  mutating func noteNotOffered(_ index: Int, _ error: GodwitError?) {
    let reason = error?.message ?? "nothing is offered for slot \(slots[index].label)"
    if !lacking.contains(reason) { lacking.append(reason) }
    if let hint = error?.hint, !hints.contains(hint) { hints.append(hint) }
    if error?.code == .invalidKey { slip = slip ?? error?.hint }
  }

  var error: GodwitError {
    let reasons = unfitting + lacking
    // What a single reason says of itself is more to the point than what all slots need, and so is a slip in what was
    // typed, however many other slots there are.
    let hint = slip ?? (reasons.count == 1 ? hints.first : nil)
    return GodwitError(
      .noKeyFits, reasons.isEmpty ? "the keyring has no slot that this version knows" : reasons.joined(separator: "; "),
      hint: hint ?? needs)
  }

  /// The options that offer what the slots need.
  private var needs: String {
    slots.contains { !$0.factors.isEmpty }
      ? "its slots take what \(slots.options) names; see: godwit keyring list"
      : "its slots are of another version of Godwit: use that, or restore a keyring from a backup"
  }
}

extension [SlotDescription] {
  /// The options of the command line that offer what the slots need: `--machine-key or --passphrase-file`.
  var options: String {
    let options = [
      "machineKey": "--machine-key", "passphrase": "--passphrase-file", "recoveryCode": "--recovery-code-file",
      "command": "--key-command", "credential": "--credential",
    ]
    var needed: [String] = []
    for factor in flatMap(\.factors) {
      guard let option = options[factor], !needed.contains(option) else { continue }
      needed.append(option)
    }
    guard let last = needed.popLast() else { return "another version of Godwit" }
    return needed.isEmpty ? last : "\(needed.joined(separator: ", ")) or \(last)"
  }
}
