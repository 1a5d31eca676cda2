import Crypto
import Foundation
import GodwitBase
import GodwitStorage
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys

/// A process's memory, as the kernel shows it to its parent.
private struct ProcessMemory {
  private let process: Int32

  init(_ process: Int32) { self.process = process }

  /// Which of these are anywhere in what the process may write to.
  func found(_ needles: [(name: String, bytes: [UInt8])]) throws -> Set<String> {
    let memory = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
    try #require(memory >= 0, "errno \(errno)")
    defer { close(memory) }
    var found: Set<String> = []
    for line in try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8).split(separator: "\n") {
      let parts = line.split(separator: " ")
      let ends = parts[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard parts[1].hasPrefix("rw"), ends.count == 2 else { continue }
      var content = [UInt8](repeating: 0, count: Int(ends[1] - ends[0]))
      let count = content.withUnsafeMutableBytes { pread(memory, $0.baseAddress, $0.count, off_t(ends[0])) }
      guard count > 0 else { continue }
      for needle in needles where Self.contains(content, needle.bytes) { found.insert(needle.name) }
    }
    return found
  }

  private static func contains(_ content: [UInt8], _ needle: [UInt8]) -> Bool {
    content.withUnsafeBytes { content in
      needle.withUnsafeBytes { needle in
        guard var place = content.baseAddress, let start = needle.baseAddress else { return false }
        let end = place + content.count
        while let next = memchr(place, Int32(needle[0]), end - place) {
          if end - UnsafeRawPointer(next) >= needle.count, memcmp(next, start, needle.count) == 0 { return true }
          place = UnsafeRawPointer(next) + 1
        }
        return false
      }
    }
  }
}

@Suite("Keys in memory", .timeLimit(.minutes(1)))
struct SecretMemoryTests {
  /// Every private key of a replica's, as bytes and as digits.
  private func secrets(_ path: String) throws -> [(name: String, bytes: [UInt8])] {
    let location = KeyringLocation(keyring: "\(path)/keyring", machineKey: "\(path)/machine.key")
    let contents = try Keyring.open(at: location)
    var writer = ByteWriter()
    contents.identity.encode(to: &writer)
    let text = try Forgery.bytes("\(path)/machine.key").filter { $0 > 32 }
    var keys: [(String, [UInt8])] = [
      ("database key", contents.databaseKey.withUnsafeBytes(Array.init)),
      ("signing seed", Array(writer.bytes[17..<49])), ("agreement key", Array(writer.bytes[49..<81])),
      ("machine key", try Bech32.decode(text, what: "it").data),
    ]
    /// As X25519 takes it (RFC 7748, section 5): whoever has that has the key.
    func scalar(_ key: [UInt8]) -> [UInt8] {
      var scalar = key
      scalar[0] &= 248
      scalar[31] = scalar[31] & 127 | 64
      return scalar
    }
    keys += [("agreement key's scalar", scalar(keys[2].1)), ("machine key's scalar", scalar(keys[3].1))]
    keys.append(("signing scalar", scalar(Array(SHA512.hash(data: keys[1].1).prefix(32)))))
    return keys + keys.map { ("\($0)'s digits", Array(Hexadecimal.encode($1).utf8)) }
      + [
        ("machine key's text", text),
        ("agreement key's text", Array(contents.identity.ageIdentity.exportSecretText().utf8)),
      ]
  }

  @Test("are gone when a replica has been closed and released")
  func closed() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("replica")
    #expect(try await KillSubject.run(["make", path], umask: "077") == 0)
    let secrets = try secrets(path)
    try await BlockingThread.run {
      let process = Process()
      let (input, output) = (Pipe(), Pipe())
      process.executableURL = URL(fileURLWithPath: KillSubject.path)
      process.arguments = ["hold", path, folder.file("changes")]
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      defer {
        process.terminate()
        process.waitUntilExit()
      }
      let memory = ProcessMemory(process.processIdentifier)
      try #require(output.fileHandleForReading.availableData.count == 1)
      let open = try memory.found(secrets)
      #expect(open.contains("database key"))
      // It is read when it is needed, and gone at once.
      #expect(!open.contains { $0.hasPrefix("machine key") }, "\(open)")
      input.fileHandleForWriting.write(Data("\n".utf8))
      try #require(output.fileHandleForReading.availableData.count == 1)
      let closed = try memory.found(secrets)
      #expect(closed == [])
      input.fileHandleForWriting.write(Data("\n".utf8))
    }
  }
}
