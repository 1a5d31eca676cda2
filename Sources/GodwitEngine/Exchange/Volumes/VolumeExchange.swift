import Foundation
import GodwitBase
import GodwitFiles
import GodwitSyncFile

/// A set of volumes on its way from its pending names to its places, where an earlier set may lie. It counts as a whole
/// once its first volume is called `FILE.001.new`, which takes its own place last of all: so whoever comes after a kill
/// can see it, and continue (Specs/sync-file.md, "Volumes").
package struct VolumeExchange {
  private let file: String
  private let header: VolumeHeader

  /// Nil when no set is on its way there.
  init?(to file: String) {
    let begun = VolumeName.begun(file)
    guard let first = try? VolumeSource.Volume(begun, isExact: true), first.header.number == 1 else { return nil }
    self.file = file
    header = first.header
  }

  /// Where a volume of the set lies; nil for a number that the set does not have, where an earlier set's may lie.
  private func path(of number: Int) -> String? {
    guard number <= header.count else { return nil }
    let name = VolumeName(file, number)
    if number == 1 { return VolumeName.begun(file) }
    let pending = name.pending(header.set)
    return PrivateFile.exists(pending) ? pending : name.place
  }

  /// Puts the volumes that still have their pending names in their places, and the earlier set away.
  func finish() throws {
    let folder = FilePath.folder(of: file)
    try PrivateFile.synchronizeFolder(folder)
    for number in 1...header.count where number > 1 {
      let name = VolumeName(file, number)
      let pending = name.pending(header.set)
      if PrivateFile.exists(pending) { try PendingFile.replace(name.place, by: pending) }
    }
    removeEarlier()
    try PrivateFile.synchronizeFolder(folder)
    try PendingFile.replace(VolumeName(file, 1).place, by: VolumeName.begun(file))
    try PrivateFile.synchronizeFolder(folder)
  }

  /// Volumes of an earlier, longer set would stand among the new ones. The last goes first, so that one who comes after
  /// a kill finds the rest.
  private func removeEarlier() {
    guard header.count < VolumeHeader.countLimit else { return }
    for number in (header.count + 1...VolumeHeader.countLimit).reversed() {
      let place = VolumeName(file, number).place
      if beginsAsVolume(place) { unlink(place) }
    }
  }

  /// A volume, also one that is damaged.
  private func beginsAsVolume(_ path: String) -> Bool {
    guard PrivateFile.exists(path), let file = try? FileDescriptor.openPlainForReading(path) else { return false }
    return (try? file.readExactly(VolumeSource.magic.count)) == VolumeSource.magic
  }
}

extension VolumeExchange {
  /// Where the volumes of these names are: those of a set that is on its way there wherever they lie, each once, and
  /// nothing that is yet to become a volume. All other paths are as they are given.
  package static func resolve(_ paths: [String]) -> [String] {
    var exchanges: [String: VolumeExchange?] = [:]
    var resolved: [String] = []
    var seen: Set<String> = []
    for path in paths {
      guard let name = VolumeName(path) else {
        resolved.append(path)
        continue
      }
      let exchange = exchanges[name.file] ?? VolumeExchange(to: name.file)
      exchanges[name.file] = .some(exchange)
      if let exchange {
        guard let place = exchange.path(of: name.number), seen.insert(place).inserted else { continue }
        resolved.append(place)
      } else if !VolumeName.isPending(path) {
        resolved.append(path)
      }
    }
    return resolved.isEmpty ? paths : resolved
  }
}
