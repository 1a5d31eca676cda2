/// What a scan found: of every name and architecture the one version that counts.
struct PackageList {
  private(set) var packages: [Package.Identity: Package] = [:]

  /// Adds a package, unless it stands behind one that is there: an installed version comes before all others, and
  /// a higher one before a lower.
  mutating func add(_ package: Package) {
    if let known = packages[package.identity], !package.supersedes(known) { return }
    packages[package.identity] = package
  }
}

extension Package {
  fileprivate func supersedes(_ other: Package) -> Bool {
    guard isInstalled == other.isInstalled else { return isInstalled }
    return DebianVersion(version) > DebianVersion(other.version)
  }
}
