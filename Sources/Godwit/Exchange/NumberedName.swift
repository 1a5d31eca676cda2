import GodwitFiles

/// The names of several files in place of one: `changes-001.godwit`, `changes-002.godwit` … for `changes.godwit`.
struct NumberedName {
  private let path: String
  private let stem: String
  /// With its dot; empty where there is none.
  private let suffix: String

  init(_ path: String) {
    self.path = path
    let name = FilePath.name(of: path)
    // A dot that a name begins with hides it, and begins no extension.
    if let dot = name.lastIndex(of: "."), dot != name.startIndex, name.index(after: dot) != name.endIndex {
      suffix = String(name[dot...])
    } else {
      suffix = ""
    }
    stem = String(path.dropLast(suffix.count))
  }

  /// - Parameter number: From 1.
  func path(of number: Int) -> String {
    let digits = String(number)
    return "\(stem)-\(String(repeating: "0", count: max(0, 3 - digits.count)))\(digits)\(suffix)"
  }

  /// What lies under the names that an export would have given instead of these, or next.
  func others(than files: [String]) -> [String] {
    let isNumbered = files != [path]
    var others = isNumbered && PrivateFile.exists(path) ? [path] : []
    var number = isNumbered ? files.count + 1 : 1
    while PrivateFile.exists(self.path(of: number)) {
      others.append(self.path(of: number))
      number += 1
    }
    return others
  }
}
