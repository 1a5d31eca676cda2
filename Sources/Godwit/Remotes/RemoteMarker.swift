import GodwitBase
import GodwitCrypto
import GodwitFiles
import GodwitRemotes

/// The file that says which group's remote a place is, and of which format (Specs/remotes.md, "Names").
struct RemoteMarker: Sendable {
  private static let start = "godwit remote "
  private static let version = "1"
  static let byteLimit = 256

  private let group: GroupID

  init(_ group: GroupID) { self.group = group }

  private var text: String {
    "\(Self.start)\(Self.version)\n\(Hexadecimal.encode(group.tag(of: "godwit remote v1")))\n"
  }

  /// False where there is none.
  ///
  /// - Throws: `otherGroup`, `unsupportedVersion`, `corruptFile`.
  func check(on carrier: any Carrier, meter: TransferMeter) throws -> Bool {
    let sink = MemorySink()
    guard
      try carrier.read("\(RemoteName.marker)", into: sink, limit: Self.byteLimit, meter: meter) != nil
    else { return false }
    let found = String(decoding: sink.bytes, as: UTF8.self)
    guard found != text else { return true }
    let lines = found.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 3, lines[2].isEmpty, lines[0].hasPrefix(Self.start) else {
      throw GodwitError(
        .corruptFile, "the file \(RemoteName.marker) there is not of Godwit",
        hint: "give a folder or a prefix of Godwit's own")
    }
    guard lines[0] == Self.start + Self.version else {
      let version = lines[0].dropFirst(Self.start.count).prefix(16)
      throw GodwitError(
        .unsupportedVersion, "the remote is of version \(version), and this program knows \(Self.version)",
        hint: "update this program, or give another folder or prefix")
    }
    throw GodwitError(
      .otherGroup, "the remote is another group's", hint: "give a folder or a prefix of this group's own")
  }

  func write(to carrier: any Carrier, by folder: RemotesFolder, meter: TransferMeter) throws {
    try folder.sending(Array(text.utf8)) { _ = try carrier.write("\(RemoteName.marker)", from: $0, meter: meter) }
  }
}

extension GroupID {
  /// 16 bytes that distinguish the group from others, for those who know its ID, which nobody else learns from them.
  ///
  /// - Parameter domain: What the tag is for: each has another.
  func tag(of domain: String) -> [UInt8] {
    var writer = ByteWriter()
    writer.raw(Array("\(domain)\0".utf8))
    value.write(to: &writer)
    return Array(writer.bytes.withUnsafeBytes { ContentHash(of: $0) }.bytes.prefix(16))
  }
}
