import Godwit

extension MergeReport {
  /// What somebody should look at, though the rest was applied. What an import fails with is not among it.
  package func warnings(_ names: ReplicaNames) -> [String] {
    attention.forks.map { $0.warning(names) } + attention.differing.map { names.differing($0) }
      + attention.leftOut.filter { $0.reason == .ended }.map { $0.warning(names) }
  }

  /// The same of a sync, which fails with none of it.
  package func syncWarnings(_ names: ReplicaNames) -> [String] {
    warnings(names) + attention.leftOut.filter { $0.reason != .ended }.map { $0.warning(names) }
  }
}

extension MergeReport.LeftOut {
  fileprivate func warning(_ names: ReplicaNames) -> String {
    Format.printable("warning: left out \(text(names)): \(explanation)")
  }

  private var explanation: String {
    switch reason {
    case .fenced:
      "written without having seen what has been forgotten here; on that machine: godwit sync --rejoin, once others "
        + "have synced"
    case .ended:
      "an earlier state of that machine, whose work ends before. Where it still runs, import a file "
        + "from here first, then export again."
    case .unsigned: "not signed by who is said to have written it; its author's own file brings the true ones"
    }
  }
}

extension MergeReport.Fork {
  fileprivate func warning(_ names: ReplicaNames) -> String {
    Format.printable(
      "warning: \(names.name(replica)) has two histories from transaction \(sequence) on: its machine was cloned and both "
        + "wrote, or it means to part the group. The one held here stays; the other was left out, with what depends on it. "
        + "To end it one side takes the other's state: godwit export --state FILE there, godwit import --rejoin FILE here."
    )
  }
}
