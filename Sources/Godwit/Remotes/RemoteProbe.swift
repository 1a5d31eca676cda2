import Foundation
import GodwitBase
import GodwitFiles
import GodwitRemotes

/// Tries out what a sync needs at a remote, with a file that no reader looks at.
struct RemoteProbe {
  private let carrier: any Carrier

  init(_ carrier: any Carrier) { self.carrier = carrier }

  /// Whether the store honours conditions; nil where nobody asks.
  ///
  /// - Throws: `refused` where what was written is not there as it was written.
  func run(by folder: RemotesFolder, meter: TransferMeter) throws -> Bool? {
    var generator = SystemRandomNumberGenerator()
    let digits = Identifier128.random(using: &generator).hexadecimal
    let (name, bytes) = (".probe-\(digits)", Array(digits.utf8))
    var honours: Bool?
    try folder.sending(bytes) { path in
      _ = try carrier.write(name, from: path, meter: meter)
      defer { try? carrier.remove(name, meter: TransferMeter()) }
      let sink = MemorySink()
      guard try carrier.read(name, into: sink, limit: 1 << 10, meter: meter) != nil, sink.bytes == bytes else {
        throw GodwitError(
          .refused, "what was written there cannot be read again as it was", hint: "try again; else use another store")
      }
      _ = try carrier.list(RemoteName.mailboxes, meter: meter)
      honours = try carrier.honoursConditions(name, from: path)
      try carrier.remove(name, meter: meter)
      guard try carrier.find(name, meter: meter) == nil else {
        throw GodwitError(
          .refused, "what was deleted there is still there", hint: "allow these keys to delete, or use another store")
      }
    }
    return honours
  }
}
