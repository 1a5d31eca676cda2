import Godwit

/// Which packages of a machine are meant: those of one name.
struct PackageSelector: Sendable {
  var machine = MachineSelector()
  var name: String
  /// Only that of this architecture; nil means all.
  var architecture: String?

  /// The rows, at least one.
  ///
  /// - Throws: `notFound` when there is no such package or machine.
  func packages(in reader: Reader) throws -> [Package] {
    let machine = try machine.machine(in: reader)
    var query = Package.where { $0.machine == machine.id && $0.name == name }
    if let architecture { query = query.where { $0.architecture == architecture } }
    let packages = try reader.fetch(query)
    guard !packages.isEmpty else {
      let suffix = architecture.map { " for \($0)" } ?? ""
      throw GodwitError(
        .notFound, "\(machine.name) has no package \(name)\(suffix)",
        hint: "see which there are with: inventory-agent list \(name.prefix(1))")
    }
    return packages
  }
}
