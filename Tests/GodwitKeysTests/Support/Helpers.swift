import Foundation
import GodwitBase
import TestFolders
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

/// Seals the plaintext in writes of the given size.
func seal(_ plain: [UInt8], to recipients: [AgeRecipient], writing size: Int = 65_536) throws -> [UInt8] {
  let sink = MemorySink()
  let sealer = try AgeSealer(recipients: recipients, to: sink)
  for start in stride(from: 0, to: plain.count, by: size) {
    try sealer.write(Array(plain[start..<min(start + size, plain.count)]))
  }
  try sealer.finish()
  return sink.bytes
}

/// Opens the file in reads of the given size; the error, if any, comes with what was released before it.
func open(
  _ sealed: [UInt8], with identities: [AgeIdentity], reading size: Int = 65_536
) -> (plain: [UInt8], error: GodwitError?) {
  var plain: [UInt8] = []
  do {
    let opener = try AgeOpener(MemorySource(sealed), identities: identities)
    var buffer = [UInt8](repeating: 0, count: size)
    while true {
      let count = try buffer.withUnsafeMutableBytes { try opener.read(into: $0) }
      if count == 0 { return (plain, nil) }
      plain += buffer[..<count]
    }
  } catch let error as GodwitError {
    return (plain, error)
  } catch {
    Issue.record("not a GodwitError: \(error)")
    return (plain, nil)
  }
}

/// What was given out before a source failed.
struct PartialRead: Error {
  let plain: [UInt8]
  let underlying: any Error
}

/// Everything the source gives; throws ``PartialRead``.
func readAll(_ source: any ByteSource) throws -> [UInt8] {
  var plain: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 100_000)
  do {
    while true {
      let count = try buffer.withUnsafeMutableBytes { try source.read(into: $0) }
      if count == 0 { return plain }
      plain += buffer[..<count]
    }
  } catch {
    throw PartialRead(plain: plain, underlying: error)
  }
}

/// The code of the `GodwitError` that the work throws, or nil when it throws none.
func code(of work: () throws -> Void) -> GodwitError.Code? {
  do {
    try work()
    return nil
  } catch {
    return (error as? GodwitError)?.code
  }
}

func randomBytes(_ count: Int) -> [UInt8] { SecretBytes(random: count).withUnsafeBytes(Array.init) }

func newAgeIdentity() throws -> AgeIdentity { try AgeIdentity(secret: SecretBytes(random: 32)) }

func newIdentity(_ kind: AgeKeyKind = .x25519) throws -> Identity {
  var generator = SystemRandomNumberGenerator()
  return try Identity.generate(replica: ReplicaID(.random(using: &generator)), kind: kind)
}

func newGroup() -> GroupID {
  var generator = SystemRandomNumberGenerator()
  return GroupID(.random(using: &generator))
}

/// A folder of mode 0700 that goes away with the value.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "godwit-keys-\(UInt64.random(in: 0...UInt64.max))"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { TestFolder.remove(path) }

  func path(_ name: String) -> String { "\(path)/\(name)" }
}

func readFile(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

/// Overwrites in place, so that the file keeps its mode; a new one gets 0600.
func writeFile(_ path: String, _ bytes: [UInt8]) throws {
  let isNew = !FileManager.default.fileExists(atPath: path)
  try Data(bytes).write(to: URL(fileURLWithPath: path))
  if isNew { try setMode(path, 0o600) }
}

func setMode(_ path: String, _ mode: Int) throws {
  try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}

func mode(_ path: String) throws -> Int? {
  try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
}

func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
  bytes.indices.contains { bytes[$0...].starts(with: part) }
}
