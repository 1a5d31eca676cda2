import GodwitBase
import Synchronization

/// A carrier whose calls are counted, by how they ended.
package final class CountedCarrier: Carrier {
  /// What is asked of a carrier.
  package enum Operation: String, Sendable, CaseIterable {
    case list, read, write, remove
  }

  /// Calls that ended alike.
  package struct Kind: Hashable, Sendable {
    package let operation: Operation
    /// Nil for one that did not fail. A file that is not there is no failure.
    package let error: GodwitError.Code?
  }

  private let carrier: any Carrier
  private let counted = Mutex<[Kind: Int]>([:])

  package init(_ carrier: any Carrier) { self.carrier = carrier }

  /// How many calls ended how. One that was cancelled is not among them.
  package var counts: [Kind: Int] { counted.withLock(\.self) }

  package var mayBeAway: Bool { carrier.mayBeAway }

  package func list(_ folder: String, meter: TransferMeter) throws -> [CarriedFile] {
    try count(.list) { try carrier.list(folder, meter: meter) }
  }

  package func find(_ name: String, meter: TransferMeter) throws -> CarriedFile? {
    try count(.list) { try carrier.find(name, meter: meter) }
  }

  package func read(
    _ name: String, into sink: any ByteSink, limit: Int, meter: TransferMeter
  ) throws -> CarriedFile? {
    try count(.read) { try carrier.read(name, into: sink, limit: limit, meter: meter) }
  }

  package func write(_ name: String, from path: String, meter: TransferMeter) throws -> CarriedFile {
    try count(.write) { try carrier.write(name, from: path, meter: meter) }
  }

  package func remove(_ name: String, meter: TransferMeter) throws {
    try count(.remove) { try carrier.remove(name, meter: meter) }
  }

  package func honoursConditions(_ name: String, from path: String) throws -> Bool? {
    try count(.write) { try carrier.honoursConditions(name, from: path) }
  }

  private func count<Output>(_ operation: Operation, _ call: () throws -> Output) throws -> Output {
    do {
      let output = try call()
      add(operation, nil)
      return output
    } catch let error as GodwitError {
      add(operation, error.code)
      throw error
    }
  }

  private func add(_ operation: Operation, _ error: GodwitError.Code?) {
    counted.withLock { $0[Kind(operation: operation, error: error), default: 0] += 1 }
  }
}
