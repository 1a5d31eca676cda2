import Foundation
import TestFolders

/// A folder that goes with the value.
package final class Workspace: Sendable {
  package let path: String

  package init() throws {
    path = "\(NSTemporaryDirectory())godwit-remotes-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { TestFolder.remove(path) }

  /// A file with these bytes.
  package func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    return "\(path)/\(name)"
  }
}
