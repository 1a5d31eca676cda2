import GodwitBase

/// Why none of a keyring's slots opens, each reason once: what was tried and does not fit comes first.
struct SlotFailure {
  private let slots: [SlotDescription]
  private var unfitting: [String] = []
  private var lacking: [String] = []
  private var hints: [String] = []

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
  }

  var error: GodwitError {
    let reasons = unfitting + lacking
    // What a single reason says of itself is more to the point than what all slots need.
    let hint = reasons.count == 1 ? hints.first : nil
    return GodwitError(
      .noKeyFits, reasons.isEmpty ? "the keyring has no slot that this version knows" : reasons.joined(separator: "; "),
      hint: hint ?? needs)
  }

  /// The options that offer what the slots need.
  private var needs: String {
    let options = [
      "machineKey": "--machine-key", "passphrase": "--passphrase-file", "recoveryCode": "--recovery-code-file",
      "command": "--key-command", "credential": "--credential",
    ]
    var needed: [String] = []
    for factor in slots.flatMap(\.factors) {
      guard let option = options[factor], !needed.contains(option) else { continue }
      needed.append(option)
    }
    guard !needed.isEmpty else { return "update Godwit, or restore the keyring from a backup" }
    let last = needed.removeLast()
    let list = needed.isEmpty ? last : "\(needed.joined(separator: ", ")) or \(last)"
    return "its slots take what \(list) names; see: godwit keyring list"
  }
}
