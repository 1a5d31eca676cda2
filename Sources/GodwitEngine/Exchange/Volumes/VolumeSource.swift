import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys
import GodwitSyncFile

/// Gives the bytes of the sealed file that a set of volumes holds (Specs/sync-file.md, "Volumes").
package final class VolumeSource: ByteSource {
  /// A file that is a whole volume, as far as its header and its size show.
  package struct Volume {
    let path: String
    package let header: VolumeHeader

    /// Throws `fileAccess`, `truncatedFile`, `unsupportedVersion`, or `corruptFile` for what is no volume or was
    /// changed; the error names the file.
    ///
    /// - Parameter isExact: Whether it must have this very name; else it may have gone to its place meanwhile.
    package init(_ path: String, isExact: Bool = false) throws {
      self.path = path
      header = try Self.open(path, isExact: isExact).header
    }

    /// The file, standing at its body.
    static func open(_ path: String, isExact: Bool = false) throws -> (file: FileDescriptor, header: VolumeHeader) {
      let file = isExact ? try FileDescriptor.openPlainForReading(path) : try openWhereItIs(path)
      do {
        let start = try StartedSource(file, count: VolumeHeader.byteCount).start
        let header = try VolumeHeader(start)
        let expected = UInt64(VolumeHeader.byteCount) + header.bodyByteCount
        let size = UInt64(try file.size())
        guard size >= expected else { throw GodwitError(.truncatedFile, "the volume is cut") }
        guard size == expected else { throw GodwitError(.corruptFile, "something follows the volume") }
        return (file, header)
      } catch let error as GodwitError {
        throw GodwitError(
          error.code, "\(path): \(error.message)", hint: error.hint ?? VolumeSource.hint, underlying: error.underlying)
      }
    }

    /// A volume may go to its place between two looks.
    private static func openWhereItIs(_ path: String) throws -> FileDescriptor {
      do {
        return try FileDescriptor.openPlainForReading(path)
      } catch {
        guard let place = VolumeName(path)?.place, place != path else { throw error }
        return try FileDescriptor.openPlainForReading(place)
      }
    }
  }

  package static var magic: [UInt8] { VolumeHeader.magic }
  fileprivate static let hint = "nothing was changed; copy the volume again from its source"

  private let volumes: [Volume]
  private var next = 0
  private var file: FileDescriptor?
  private var rest: UInt64 = 0
  private var hasher = ContentHasher()

  /// Checks that the files are all volumes of one set.
  ///
  /// Throws what is wrong with one of them, `wrongVolume` when sets are mixed or a volume is given twice, and
  /// `missingVolume` with the names of those that are not given.
  package init(_ paths: [String]) throws {
    let volumes = try VolumeExchange.resolve(paths).map { try Volume($0) }
    guard let first = volumes.first else {
      throw GodwitError(.invalidArgument, "no volumes are given", hint: "give all volumes of a set")
    }
    for volume in volumes where volume.header.set != first.header.set {
      throw GodwitError(
        .wrongVolume, "\(volume.path) belongs to another set than \(first.path)",
        hint: "give the volumes of one export; godwit inspect shows the set of each")
    }
    self.volumes = volumes.sorted { $0.header.number < $1.header.number }
    for (left, right) in zip(self.volumes, self.volumes.dropFirst()) where left.header.number == right.header.number {
      throw GodwitError(
        .wrongVolume, "\(left.path) and \(right.path) are both volume \(left.header.number)",
        hint: "give each volume once")
    }
    try Self.requireAll(self.volumes)
    try Self.requireContiguous(self.volumes)
  }

  private static func requireAll(_ volumes: [Volume]) throws {
    guard let first = volumes.first else { return }
    let present = Set(volumes.map(\.header.number))
    let missing = (1...first.header.count).filter { !present.contains($0) }
    guard !missing.isEmpty else { return }
    let names = missing.prefix(10).map { first.name(ofNumber: $0) } + (missing.count > 10 ? ["…"] : [])
    throw GodwitError(
      .missingVolume,
      "\(volumes.count) of the set's \(first.header.count) volumes are here; missing: \(names.joined(separator: ", "))",
      hint: "nothing was changed; give all volumes at once, in any order")
  }

  private static func requireContiguous(_ volumes: [Volume]) throws {
    for (left, right) in zip(volumes, volumes.dropFirst()) {
      guard left.header.count == right.header.count, left.header.sealedByteCount == right.header.sealedByteCount,
        left.header.offset + left.header.bodyByteCount == right.header.offset
      else { throw GodwitError(.corruptFile, "\(right.path) does not follow \(left.path) in their set", hint: hint) }
    }
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while rest == 0 {
      guard next < volumes.count else { return 0 }
      try openNext()
    }
    guard let file else { return 0 }
    let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(min(UInt64(buffer.count), rest))))
    let count = try file.read(into: wanted)
    guard count > 0 || wanted.isEmpty else {
      throw GodwitError(.truncatedFile, "\(file.path): the volume is cut", hint: Self.hint)
    }
    hasher.update(UnsafeRawBufferPointer(rebasing: wanted.prefix(count)))
    rest -= UInt64(count)
    if rest == 0, hasher.finalize() != volumes[next - 1].header.bodyHash { throw volumes[next - 1].damaged() }
    return count
  }

  private func openNext() throws {
    let volume = volumes[next]
    let (file, header) = try Volume.open(volume.path)
    guard header == volume.header else {
      throw GodwitError(.corruptFile, "\(volume.path) was changed while it was read", hint: Self.hint)
    }
    self.file = file
    rest = header.bodyByteCount
    hasher = ContentHasher()
    next += 1
  }

  /// Age notices a change before the volume's end does; the hashes show which volume it is in.
  package func explain(_ error: GodwitError) -> GodwitError {
    guard [.corruptFile, .truncatedFile, .unsupportedVersion, .limitExceeded, .notARecipient].contains(error.code),
      !volumes.contains(where: { error.message.contains($0.path) })
    else { return error }
    for volume in volumes {
      do {
        guard try volume.isWhole() else { return volume.damaged(underlying: error) }
      } catch {
        return (error as? GodwitError) ?? volume.damaged(underlying: error)
      }
    }
    return error
  }
}

extension VolumeSource.Volume {
  /// Whether the body has its hash.
  fileprivate func isWhole() throws -> Bool {
    let file = try Self.open(path).file
    var hasher = ContentHasher()
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = try buffer.withUnsafeMutableBytes { buffer in
        let count = try file.read(into: buffer)
        hasher.update(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
        return count
      }
      if count == 0 { return hasher.finalize() == header.bodyHash }
    }
  }

  fileprivate func damaged(underlying: (any Error)? = nil) -> GodwitError {
    GodwitError(
      .corruptFile, "\(path): volume \(header.number) of \(header.count) was changed", hint: VolumeSource.hint,
      underlying: underlying)
  }

  /// What another volume of the set is probably called.
  fileprivate func name(ofNumber number: Int) -> String {
    guard let name = VolumeName(path), name.number == header.number else { return "volume \(number)" }
    return VolumeName(name.file, number).place
  }
}
