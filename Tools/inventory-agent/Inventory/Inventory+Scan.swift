import Foundation
import Godwit

extension Inventory {
  /// Rows a transaction: large ones write less in all, small ones let others write in between.
  private static let batchSize = 1_000

  /// Makes the replica say of a machine what the sources say, and writes only what differs.
  ///
  /// - Parameter progress: Called with how much is written, from 0 to 1.
  func scan(
    _ host: HostMachine, from sources: [PackageSource], progress: (Double) -> Void = { _ in }
  ) async throws -> ScanReport {
    let machine = try await machine(of: host)
    var list = PackageList()
    for source in sources { try source.read(into: &list, of: machine.id) }
    let stored = try await replica.fetch(Package.where { $0.machine == machine.id }.order(by: \.id))
    let plan = ScanPlan(
      stored: stored, found: list, includesAvailable: sources.contains { $0.listsAvailable })
    for start in stride(from: 0, to: plan.changes.count, by: Self.batchSize) {
      let batch = plan.changes[start...].prefix(Self.batchSize)
      try await replica.write { transaction in
        if start == 0 { try transaction.save(machine) }
        for change in batch { try change.apply(in: transaction) }
      }
      progress(Double(start + batch.count) / Double(plan.changes.count))
    }
    return plan.report
  }

  /// The host's row as a scan that changes something leaves it.
  private func machine(of host: HostMachine) async throws -> Machine {
    let known = try await replica.fetch(Machine.where { $0.name == host.name }.order(by: \.id).limit(1))
    var machine = known.first ?? Machine()
    machine.name = host.name
    machine.architecture = host.architecture
    machine.lastChange = Date()
    return machine
  }
}
