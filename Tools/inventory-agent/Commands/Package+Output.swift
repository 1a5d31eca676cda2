import ToolSupport

extension Package {
  /// As `list --json` prints it.
  var json: JSONValue {
    [
      "name": .string(name), "version": .string(version), "architecture": .string(architecture),
      "section": .string(section), "installed_size": installedSizeKiB.map { .number($0) } ?? nil,
      "description": .string(description), "is_installed": .bool(isInstalled), "is_pinned": .bool(isPinned),
      "note": .string(note),
    ]
  }

  /// As `list` prints them.
  static func table(of packages: [Package]) -> TextTable {
    var table = TextTable([
      ("name", .left), ("version", .left), ("architecture", .left), ("state", .left), ("note", .left),
    ])
    for package in packages {
      let state = (package.isInstalled ? ["installed"] : []) + (package.isPinned ? ["pinned"] : [])
      table.add([package.name, package.version, package.architecture, state.joined(separator: " "), package.note])
    }
    return table
  }
}
