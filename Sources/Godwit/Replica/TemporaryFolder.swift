import Foundation
import GodwitBase
import GodwitFiles

/// A folder of a replica that is not to stay.
package struct TemporaryFolder: Sendable {
  let path: String

  /// A name that nobody has; the folder itself is made by opening the replica.
  init(in parent: String) { path = "\(FilePath.absolute(parent))/godwit-\(UUID().uuidString)" }

  /// In a file system of the kernel's memory.
  static func inMemory() throws -> TemporaryFolder {
    let mounts = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
    let isInMemory = mounts.split(separator: "\n").contains { line in
      let fields = line.split(separator: " ")  // proc(5): device, place, type
      return fields.count > 2 && fields[1] == "/dev/shm" && fields[2] == "tmpfs"
    }
    guard isInMemory else {
      throw GodwitError(
        .fileAccess, "there is no file system in memory at /dev/shm", hint: "use Replica.temporary instead")
    }
    return TemporaryFolder(in: "/dev/shm")
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
