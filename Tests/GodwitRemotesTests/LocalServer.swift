import Foundation
import TestFolders

/// A program that serves on loopback until the value goes.
final class LocalServer: @unchecked Sendable {
  let port: Int
  private let process = Process()

  /// Waits until somebody answers at the port.
  init(_ program: String, _ arguments: (_ port: Int) -> [String], environment: [String: String] = [:]) throws {
    port = try Self.freePort()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments(port)
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    for _ in 0..<600 {
      if let socket = try? LoopbackSocket(connectingTo: port) {
        socket.close()
        return
      }
      usleep(100_000)
    }
    throw CocoaError(.fileReadUnknown)
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
  }

  /// A port that nobody uses now.
  static func freePort() throws -> Int {
    let socket = try LoopbackSocket(listeningAt: 0)
    defer { socket.close() }
    return socket.port
  }
}

/// An S3 server of rclone's, which checks signatures, over a folder.
struct RcloneStore {
  static let program = ProcessInfo.processInfo.environment["GODWIT_RCLONE"]
  static let environment = [
    "AWS_ACCESS_KEY_ID": "godwit", "AWS_SECRET_ACCESS_KEY": "not-a-secret", "HOME": "/nonexistent",
  ]

  let server: LocalServer
  let folder: Workspace

  init(buckets: [String] = ["bucket"]) throws {
    folder = try Workspace()
    for bucket in buckets {
      try FileManager.default.createDirectory(atPath: "\(folder.path)/\(bucket)", withIntermediateDirectories: true)
    }
    let path = folder.path
    server = try LocalServer(
      Self.program ?? "",
      {
        [
          "serve", "s3", "--config", "/dev/null", "--auth-key", "godwit,not-a-secret", "--addr", "127.0.0.1:\($0)",
          path,
        ]
      })
  }
}

/// A folder that goes with the value.
final class Workspace: Sendable {
  let path: String

  init() throws {
    path = "\(NSTemporaryDirectory())godwit-remotes-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { TestFolder.remove(path) }

  /// A file with these bytes.
  func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    return "\(path)/\(name)"
  }
}
