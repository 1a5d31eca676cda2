import Foundation

/// An S3 server of rclone's, which checks signatures, over a folder.
package struct RcloneStore: Sendable {
  package static let program = ProcessInfo.processInfo.environment["GODWIT_RCLONE"]
  package static let environment = [
    "AWS_ACCESS_KEY_ID": "godwit", "AWS_SECRET_ACCESS_KEY": "not-a-secret", "HOME": "/nonexistent",
  ]

  package let server: LocalServer
  package let folder: Workspace

  package init(buckets: [String] = ["bucket"]) throws {
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

/// The command line of AWS, a client of stores by other people.
package enum AWSCommand {
  package static let program = ProcessInfo.processInfo.environment["GODWIT_AWS"]
}

/// An S3 server of moto's, which honours conditions and checks no signature.
package struct MotoStore {
  package static let program = ProcessInfo.processInfo.environment["GODWIT_MOTO"]

  package let server: LocalServer

  package init() throws {
    server = try LocalServer(Self.program ?? "", { ["-H", "127.0.0.1", "-p", "\($0)"] })
    let socket = try LoopbackSocket(connectingTo: server.port)
    defer { socket.close() }
    let scope = "AWS4-HMAC-SHA256 Credential=godwit/20260131/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
    let lines = ["PUT /bucket HTTP/1.1", "Host: 127.0.0.1", "Authorization: \(scope)", "Content-Length: 0", "", ""]
    guard socket.write(Array(lines.joined(separator: "\r\n").utf8)),
      String(decoding: socket.read(), as: UTF8.self).hasPrefix("HTTP/1.1 200")
    else { throw CocoaError(.fileReadUnknown) }
  }
}
