import Foundation
import Godwit

/// The process's resident memory, as Linux counts it.
enum ResidentMemory {
  /// Has the peak counted anew, and returns what is resident now, in bytes. Memory that the allocator keeps for later is
  /// given back first.
  static func resetPeak() throws -> Int {
    malloc_trim(0)
    try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    return try value("VmRSS")
  }

  /// The greatest since then.
  static func peak() throws -> Int { try value("VmHWM") }

  private static func value(_ name: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
    guard let kilobytes = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) }) else {
      throw GodwitError(.invalidArgument, "the system does not say \(name)")
    }
    return kilobytes * 1_024
  }
}
