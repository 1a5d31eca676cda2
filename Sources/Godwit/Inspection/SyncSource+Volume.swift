import GodwitBase
import GodwitEngine

extension SyncSource {
  /// One volume of a sync file, by itself (Specs/sync-file.md, "Volumes").
  public struct Volume: Sendable, Hashable {
    /// The file.
    public let path: String
    /// The set it belongs to: 32 hexadecimal digits, the same for all volumes of one export.
    public let set: String
    /// Its place in the set, from 1.
    public let number: Int
    /// How many volumes the set has.
    public let count: Int
    /// Bytes of the sealed file that it holds.
    public let bytes: Int
    /// Bytes of the sealed file.
    public let sealedBytes: Int

    /// Reads what a volume says of itself.
    ///
    /// - Throws: `fileAccess`, `truncatedFile`, `unsupportedVersion`, or `corruptFile` for what is no volume.
    public init(at path: String) throws {
      let header = try VolumeSource.Volume(path).header
      self.path = path
      set = header.set.hexadecimal
      number = header.number
      count = header.count
      bytes = Int(header.bodyByteCount)
      sealedBytes = Int(header.sealedByteCount)
    }
  }
}
