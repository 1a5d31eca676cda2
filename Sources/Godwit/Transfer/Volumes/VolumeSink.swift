import Foundation
import GodwitBase
import GodwitFiles
import GodwitKeys
import GodwitSyncFile

/// Cuts a sealed file into volumes (Specs/sync-file.md, "Volumes"). How many there are is known only in the end, so the
/// headers are written then; until ``commit()`` none of the files has its name.
final class VolumeSink: ByteSink {
  /// A volume that is being written.
  private final class Volume {
    let file: PendingFile
    var hasher = ContentHasher()
    var bodyByteCount = 0

    init(_ path: String) throws {
      file = try PendingFile(replacing: path)
      try file.write([UInt8](repeating: 0, count: VolumeHeader.byteCount))
    }
  }

  /// The least size of a volume: below it the headers are most of what is written.
  static let byteCountMin = 4_096

  private let path: String
  private let bodyByteCountMax: Int
  private var volumes: [Volume] = []

  /// Throws `invalidArgument` for volumes of less than 4 KiB.
  init(replacing path: String, byteCount: Int) throws {
    guard byteCount >= Self.byteCountMin else {
      throw GodwitError(
        .invalidArgument, "volumes have at least \(Self.byteCountMin) bytes", hint: "give a larger size")
    }
    self.path = path
    bodyByteCountMax = byteCount - VolumeHeader.byteCount
  }

  /// Throws `limitExceeded` beyond 999 volumes.
  func write(_ buffer: UnsafeRawBufferPointer) throws {
    var rest = buffer
    while !rest.isEmpty {
      let volume = try volumeWithRoom()
      let part = UnsafeRawBufferPointer(rebasing: rest.prefix(bodyByteCountMax - volume.bodyByteCount))
      try volume.file.write(part)
      volume.hasher.update(part)
      volume.bodyByteCount += part.count
      rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
    }
  }

  private func volumeWithRoom() throws -> Volume {
    if let last = volumes.last, last.bodyByteCount < bodyByteCountMax { return last }
    guard volumes.count < VolumeHeader.countLimit else {
      throw GodwitError(
        .limitExceeded, "the file would take more than \(VolumeHeader.countLimit) volumes",
        hint: "nothing was written; give a larger size")
    }
    let volume = try Volume(Self.name(path, volumes.count + 1))
    volumes.append(volume)
    return volume
  }

  /// Puts all volumes in their places and returns these. What can fail by a full disk has happened before the first
  /// is replaced.
  func commit() throws -> [String] {
    var generator = SystemRandomNumberGenerator()
    let set = Identifier128.random(using: &generator)
    let total = volumes.reduce(0) { $0 + $1.bodyByteCount }
    var offset = 0
    for (index, volume) in volumes.enumerated() {
      let header = VolumeHeader(
        set: set, number: index + 1, count: volumes.count, offset: UInt64(offset),
        bodyByteCount: UInt64(volume.bodyByteCount), sealedByteCount: UInt64(total),
        bodyHash: volume.hasher.finalize())
      try volume.file.rewrite(header.encoded, at: 0)
      try volume.file.synchronize()
      offset += volume.bodyByteCount
    }
    for volume in volumes { try volume.file.commit() }
    removeLeftovers()
    return volumes.indices.map { Self.name(path, $0 + 1) }
  }

  /// Volumes of an earlier, longer set would stand among the new ones.
  private func removeLeftovers() {
    var number = volumes.count + 1
    while number <= VolumeHeader.countLimit, (try? VolumeSource.Volume(Self.name(path, number))) != nil {
      unlink(Self.name(path, number))
      number += 1
    }
  }

  /// `FILE.001`.
  static func name(_ path: String, _ number: Int) -> String { "\(path).\(suffix(number))" }

  static func suffix(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
  }
}
