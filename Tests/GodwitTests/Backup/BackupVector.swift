import Foundation
import GodwitBase
import GodwitCrypto
import GodwitKeys

/// One file of Specs/vectors/backup: what is changed in Specs/golden/backup, and what restoring that gives.
struct BackupVector: Decodable {
  struct Change: Decodable {
    let at: Int
    /// Hexadecimal.
    let bytes: String
  }

  let title: String
  let padding: Int?
  let put: [Change]?
  let flip: [Int]?
  let rehash: Bool?
  let keep: Int?
  let append: String?
  let folder: [String]?
  let withoutKey: Bool?
  let error: String?

  /// The changes in the order of Specs/vectors/README.md.
  func applied(to backup: [UInt8]) throws -> [UInt8] {
    var bytes = backup
    func place(_ at: Int) -> Int { at < 0 ? bytes.count + at : at }
    bytes.insert(contentsOf: [UInt8](repeating: 0, count: padding ?? 0), at: bytes.count - 64)
    for change in put ?? [] {
      let new = try Self.bytes(change.bytes)
      bytes.replaceSubrange(place(change.at)..<place(change.at) + new.count, with: new)
    }
    for at in flip ?? [] { bytes[place(at)] ^= 1 }
    if rehash == true {
      var hasher = ContentHasher()
      hasher.update(Array(bytes.dropLast(32)))
      bytes.replaceSubrange((bytes.count - 32)..., with: hasher.finalize().bytes)
    }
    if let keep { bytes = Array(bytes.prefix(place(keep))) }
    return bytes + (try Self.bytes(append ?? ""))
  }

  private static func bytes(_ text: String) throws -> [UInt8] {
    guard let bytes = Hexadecimal.decode(text) else {
      throw GodwitError(.invalidArgument, "\(text) is not hexadecimal")
    }
    return bytes
  }
}
