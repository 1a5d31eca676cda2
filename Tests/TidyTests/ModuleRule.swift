/// The order of the modules: each imports only those that stand above it.
struct ModuleRule {
  /// From the bottom up; what stands in one line knows nothing of its neighbours.
  static let floors = [
    ["GodwitBase"], ["GodwitFiles"], ["GodwitStorage", "GodwitCore", "GodwitCrypto"],
    ["GodwitKeys"], ["GodwitSyncFile", "GodwitModel", "GodwitRemotes"],
    ["GodwitEngine", "GodwitCache"],
    ["GodwitDocuments"], ["Godwit"], ["GodwitReports", "GodwitSimulation"], ["GodwitC", "GodwitAgent", "GodwitPages"],
  ]

  let floors: [[String]]

  init(_ floors: [[String]] = Self.floors) { self.floors = floors }

  func breaches(in file: SourceFile) -> [Breach] {
    guard let module = file.module, !module.hasPrefix("C") else { return [] }
    guard let floor = floor(of: module) else {
      return [Breach(path: file.path, reason: "module \(module) has no floor; ModuleRule lists them")]
    }
    return file.lines.enumerated().compactMap { number, line in
      guard line.contains("import "), let match = line.wholeMatch(of: /(?:@\w+ )?(?:public |package )?import (\w+)/),
        let other = self.floor(of: String(match.output.1)), other >= floor
      else { return nil }
      return Breach(
        path: file.path, line: number + 1, reason: "\(module) may not import \(match.output.1), which is not below it")
    }
  }

  private func floor(of module: String) -> Int? { floors.firstIndex { $0.contains(module) } }
}
