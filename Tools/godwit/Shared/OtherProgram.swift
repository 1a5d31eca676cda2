import Foundation
import Godwit

/// A program of Godwit's that is built and installed apart, so that who does not want it never builds what it needs.
struct OtherProgram {
  private let name: String

  init(_ name: String) { self.name = name }

  /// Runs it in this program's place.
  ///
  /// - Throws: `notFound` where it is not installed; `fileAccess` where it cannot be run.
  func replaceThisOne(with arguments: [String]) throws {
    let path = try find()
    // A worker's thread blocks signals, and the program is to take them.
    var signals = sigset_t()
    sigemptyset(&signals)
    pthread_sigmask(SIG_SETMASK, &signals, nil)
    let words = ([name] + arguments).map { strdup($0) } + [nil]
    execv(path, words)
    throw GodwitError(.fileAccess, "\(path) cannot be run: \(String(cString: strerror(errno)))")
  }

  /// Beside this program, or on the PATH.
  private func find() throws -> String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let beside = URL(fileURLWithPath: own).deletingLastPathComponent().path
    let folders =
      [beside] + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    let paths = folders.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
    guard let path = paths.first(where: FileManager.default.isExecutableFile) else {
      throw GodwitError(
        .notFound, "there is no \(name) beside this program or on the PATH",
        hint: "install the package \(name), or build it: swift build -c release --product \(name)")
    }
    return path
  }
}
