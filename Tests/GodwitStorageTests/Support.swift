import Foundation
import GodwitBase
import GodwitStorage
import TestFolders

/// A key of 32 bytes, all of one value.
struct TestKey: CipherKey {
  var byte: UInt8 = 7
  var count = 32
  func withKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try Array(repeating: byte, count: count).withUnsafeBytes(body)
  }
  var hexadecimal: String { String(repeating: String(format: "%02x", byte), count: count) }
}

/// A database in a folder that goes away with the test.
final class TestDatabase: Sendable {
  let folder: String
  var path: String { "\(folder)/data/database" }

  init() throws {
    folder = NSTemporaryDirectory() + "godwit-storage-" + UUID().uuidString
    try DatabaseFile.create("\(folder)/data/database")
  }

  deinit { TestFolder.remove(folder) }

  func connect(
    key: TestKey = TestKey(), mode: Connection.Mode = .writer, busyTimeoutMilliseconds: Int32 = 5_000
  ) throws -> Connection {
    try Connection(path: path, key: key, mode: mode, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
  }

  func pool(readerCount: Int = 4, idleSeconds: Double? = nil) -> DatabasePool<Connection> {
    DatabasePool(readerCount: readerCount, idleSeconds: idleSeconds) { _ in
    } connect: { [path] in
      try Connection(path: path, key: TestKey(), mode: $0, cancellation: $1)
    }
  }
}

func code(_ body: () throws -> some Any) -> GodwitError.Code? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? GodwitError)?.code
  }
}
