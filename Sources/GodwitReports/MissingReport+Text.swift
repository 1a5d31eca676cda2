import Godwit

extension MissingReport.Waiting {
  /// `laptop 5–9, 5 transactions, 2.1 KiB`.
  package func text(_ names: ReplicaNames) -> String {
    let aside = setAside == 0 ? "" : ", \(setAside) set aside, for a process died of them"
    let amount = "\(Format.count(transactions, "transaction")), \(Format.byteSize(bytes))"
    return "\(names.name(replica)) \(sequences.text), \(amount)\(aside)"
  }
}

extension ClosedRange<UInt64> {
  /// `5`, or `5–9`.
  package var text: String { count == 1 ? "\(lowerBound)" : "\(lowerBound)–\(upperBound)" }
}
