import Godwit

extension Inventory {
  /// Edits packages in one transaction; what stays as it was is not written.
  ///
  /// - Returns: How many packages were meant, at least one.
  func edit(_ selector: PackageSelector, _ change: @escaping @Sendable (inout Package) -> Void) async throws -> Int {
    try await replica.write { transaction in
      let packages = try selector.packages(in: transaction)
      for var package in packages {
        change(&package)
        try transaction.update(package)
      }
      return packages.count
    }
  }

  /// Deletes packages with their notes. The next scan records anew those that are still there.
  ///
  /// - Returns: How many there were, at least one.
  func forget(_ selector: PackageSelector) async throws -> Int {
    try await replica.write { transaction in
      let packages = try selector.packages(in: transaction)
      for package in packages { try transaction.delete(package) }
      return packages.count
    }
  }

  /// A machine's packages, by name and architecture.
  func packages(
    of selector: MachineSelector, prefix: String = "", onlyPinned: Bool = false, limit: Int? = nil
  ) async throws -> [Package] {
    try await replica.read { reader in
      let machine = try selector.machine(in: reader)
      var query = Package.where { $0.machine == machine.id }.order(by: \.name).order(by: \.architecture)
      if !prefix.isEmpty { query = query.where { $0.name.hasPrefix(prefix) } }
      if onlyPinned { query = query.where { $0.isPinned == true } }
      if let limit { query = query.limit(limit) }
      return try reader.fetch(query)
    }
  }
}
