import Godwit

/// What must be written so that the replica's rows of one machine are those that a scan found.
struct ScanPlan {
  enum Change: Sendable {
    case insert(Package)
    /// The row is to hold what the scan found, but for note and pin.
    case update(Package.ID, found: Package)
    case delete(Package.ID)
  }

  private(set) var changes: [Change] = []
  private(set) var report = ScanReport()

  /// Compares what a replica holds with what a scan found.
  ///
  /// - Parameters:
  ///   - stored: The machine's packages, oldest first. When two agents scanned one machine at the same time there
  ///     are rows that say the same; the oldest stays.
  ///   - includesAvailable: Whether the scan also looked for packages that are not installed. If not, it cannot show
  ///     which of those have gone.
  init(stored: [Package], found list: PackageList, includesAvailable: Bool) {
    var found = list.packages
    report.scanned = found.count
    for package in stored {
      if let now = found.removeValue(forKey: package.identity) {
        compare(package, with: now)
      } else if includesAvailable || package.isInstalled || list.packages[package.identity] != nil {
        changes.append(.delete(package.id))
        report.gone += 1
      }
    }
    // In the order of their keys, so that the table grows at its end.
    changes += found.values.sorted { $0.id < $1.id }.map { .insert($0) }
    report.new = found.count
  }

  private mutating func compare(_ package: Package, with now: Package) {
    guard package.updated(from: now) != package else {
      report.same += 1
      return
    }
    changes.append(.update(package.id, found: now))
    report.changed += 1
  }
}

extension ScanPlan.Change {
  /// Writes the change. A row that somebody edited since it was compared keeps the edit.
  func apply(in transaction: Transaction) throws {
    switch self {
    case .insert(let package):
      try transaction.insert(package)
    case .update(let key, let found):
      guard let package = try transaction.fetch(Package.self, key: key) else { return }
      try transaction.update(package.updated(from: found))
    case .delete(let key):
      try transaction.delete(Package.self, key: key)
    }
  }
}
