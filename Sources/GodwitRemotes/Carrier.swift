import GodwitBase
import GodwitFiles

/// Dumb storage that keeps files under names: a folder, a bucket. Its calls block, and throw `unreachable` where a
/// later try may do, `refused` where somebody has to change something first, and `CancellationError` when the meter
/// says so.
package protocol Carrier: Sendable {
  /// Whether all of it may be away for a while and something empty in its place, as at the mount point of a stick.
  var mayBeAway: Bool { get }
  /// The files directly in a folder, in any order; none when there is no such folder.
  func list(_ folder: String, meter: TransferMeter) throws -> [CarriedFile]
  /// One file without its content, or nil.
  func find(_ name: String, meter: TransferMeter) throws -> CarriedFile?
  /// Writes a file's content to the sink; nil when there is none of that name.
  ///
  /// - Throws: `limitExceeded` for a file of more than `limit` bytes, as soon as that shows.
  func read(_ name: String, into sink: any ByteSink, limit: Int, meter: TransferMeter) throws -> CarriedFile?
  /// Puts the content of a local file under the name, in place of what is there.
  func write(_ name: String, from path: String, meter: TransferMeter) throws -> CarriedFile
  /// Removes a file; one that is not there is no error.
  func remove(_ name: String, meter: TransferMeter) throws
  /// Whether a file that exists is kept from one who asks to write it only where there is none; nil where nobody asks.
  func honoursConditions(_ name: String, from path: String) throws -> Bool?
}

/// A sink that can forget what it was given, so that a file of which a part has come can be fetched once more.
package protocol RestartableSink: ByteSink {
  func restart() throws
}

extension PendingFile: RestartableSink {}
extension MemorySink: RestartableSink {}

/// A file at a remote, as far as a list shows it. All of it is the store's word.
package struct CarriedFile: Sendable, Hashable {
  /// The name below the remote's root.
  package let name: String
  /// Bytes.
  package let size: Int
  /// What distinguishes this content from another under the name.
  package let tag: String
  /// Whether it can be read here, as far as a list shows that.
  package let isReadable: Bool

  package init(name: String, size: Int, tag: String, isReadable: Bool = true) {
    self.name = name
    self.size = size
    self.tag = tag
    self.isReadable = isReadable
  }
}
