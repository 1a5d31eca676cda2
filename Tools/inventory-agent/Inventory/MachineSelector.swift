import Godwit

/// Which machine is meant.
struct MachineSelector: Sendable {
  /// Its name; nil means the replica's only machine, or else this one.
  var name: String?
  /// What this machine is called.
  var hostName = HostMachine.current().name

  /// The machine's row.
  ///
  /// - Throws: `notFound` when no machine is called so.
  func machine(in reader: Reader) throws -> Machine {
    let machines = try reader.fetch(Machine.order(by: \.name).order(by: \.id))
    if name == nil, machines.count == 1 { return machines[0] }
    if let machine = machines.first(where: { $0.name == name ?? hostName }) { return machine }
    guard !machines.isEmpty else {
      throw GodwitError(.notFound, "no machine is recorded yet", hint: "run: inventory-agent scan")
    }
    throw GodwitError(
      .notFound, "no machine is called \(name ?? hostName)",
      hint: "--machine takes one of: \(Set(machines.map(\.name)).sorted().joined(separator: ", "))")
  }
}
