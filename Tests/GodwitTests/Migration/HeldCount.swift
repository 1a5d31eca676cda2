import Godwit

extension MergeReport {
  /// How many transactions wait for a schema version.
  var heldCount: Int { waiting.held?.transactions ?? 0 }
}

extension Replica.Status {
  /// How many transactions wait for a schema version.
  var heldCount: Int { heldVersion?.transactions ?? 0 }
}
