import ToolSupport

/// What a scan found and wrote.
struct ScanReport: Equatable {
  /// Packages found.
  var scanned = 0
  /// Packages that were not recorded before.
  var new = 0
  /// Packages of which something differs: a version, a description, whether it is installed.
  var changed = 0
  /// Packages that are no longer there.
  var gone = 0
  /// Packages recorded just so before.
  var same = 0
}

extension ScanReport: CustomStringConvertible {
  var description: String {
    "scanned \(scanned) packages: \(new) new, \(changed) changed, \(gone) gone, \(same) same"
  }
}

extension ScanReport {
  /// As `--json` prints it.
  var json: JSONValue {
    [
      "scanned": .number(scanned), "new": .number(new), "changed": .number(changed), "gone": .number(gone),
      "same": .number(same),
    ]
  }
}
