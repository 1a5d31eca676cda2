import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys
import GodwitSyncFile

/// Cuts a sealed file into volumes (Specs/sync-file.md, "Volumes"). How many there are is known only in the end, so the
/// headers are written then; until ``commit()`` an earlier set is what lies there.
package final class VolumeSink: ByteSink {
  /// A volume that is being written.
  private final class Volume {
    let file: PendingFile
    var hasher = ContentHasher()
    var bodyByteCount = 0

    init(_ name: VolumeName, of set: Identifier128) throws {
      file = try PendingFile(replacing: name.place, named: name.pending(set))
      try file.write([UInt8](repeating: 0, count: VolumeHeader.byteCount))
    }
  }

  /// The least size of a volume: below it the headers are most of what is written.
  static let byteCountMin = 4_096

  private let path: String
  private let set: Identifier128
  private let bodyByteCountMax: Int
  private let requirePlace: (String) throws -> Void
  private var volumes: [Volume] = []

  /// Finishes what an export that was killed has begun there. Throws `invalidArgument` for volumes of less than 4 KiB,
  /// and when the name that the first volume has meanwhile is another file's.
  ///
  /// - Parameter requirePlace: Throws for a path where no volume may lie.
  package init(replacing path: String, byteCount: Int, requirePlace: @escaping (String) throws -> Void) throws {
    guard byteCount >= Self.byteCountMin else {
      throw GodwitError(
        .invalidArgument, "volumes have at least \(Self.byteCountMin) bytes", hint: "give a larger size")
    }
    self.path = path
    self.requirePlace = requirePlace
    bodyByteCountMax = byteCount - VolumeHeader.byteCount
    var generator = SystemRandomNumberGenerator()
    set = Identifier128.random(using: &generator)
    try requirePlace(VolumeName(path, 1).place)
    try settled {}
  }

  /// Does something while nobody else exchanges volumes in that folder and none is between its names.
  private func settled(_ body: () throws -> Void) throws {
    let lock = try FolderLock(FilePath.folder(of: path))
    defer { withExtendedLifetime(lock) {} }
    if let exchange = VolumeExchange(to: path) {
      try exchange.finish()
    } else if PrivateFile.exists(VolumeName.begun(path)) {
      throw GodwitError(
        .invalidArgument, "\(VolumeName.begun(path)) is in the way: it is no first volume",
        hint: "remove it, or choose another name")
    }
    try Leftovers.removeNumbered(of: path)
    try body()
  }

  /// Throws `limitExceeded` beyond 999 volumes.
  package func write(_ buffer: UnsafeRawBufferPointer) throws {
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
    let name = VolumeName(path, volumes.count + 1)
    try requirePlace(name.place)
    let volume = try Volume(name, of: set)
    volumes.append(volume)
    return volume
  }

  /// Puts all volumes in their places and returns these. What can fail by a full disk has happened before the first
  /// is replaced; from the first rename on the set counts, whatever happens.
  package func commit() throws -> [String] {
    try complete()
    try settled {
      guard let first = volumes.first else { return }
      for number in 1...volumes.count { try requirePlace(VolumeName(path, number).place) }
      try PrivateFile.synchronizeFolder(FilePath.folder(of: path))
      try first.file.handOver(as: VolumeName.begun(path))
      for volume in volumes.dropFirst() { try volume.file.handOver() }
      try VolumeExchange(to: path)?.finish()
    }
    return volumes.indices.map { VolumeName(path, $0 + 1).place }
  }

  /// Writes the headers, and makes all of it durable.
  private func complete() throws {
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
  }
}
