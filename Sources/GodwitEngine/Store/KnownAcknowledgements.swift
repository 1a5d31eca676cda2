import GodwitCore
import GodwitStorage
import Synchronization

/// What members have said they hold, as it was read last: each names every origin there is, and few say anything new
/// between two syncs. What is written anew has another mark, so that nothing but marks is read of the others.
package final class KnownAcknowledgements: Sendable {
  private struct Known {
    let mark: Int64
    let record: Acknowledgements.Record
  }

  private let latest = Mutex<[Origin: Known]>([:])

  package init() {}

  /// Of all who have said anything.
  func records(on connection: Connection) throws -> [Origin: Acknowledgements.Record] {
    let known = latest.withLock { $0 }
    let read = try Acknowledgements.marks(on: connection).reduce(into: [Origin: Known]()) { read, row in
      if let earlier = known[row.origin], earlier.mark == row.mark {
        read[row.origin] = earlier
      } else {
        read[row.origin] = Known(mark: row.mark, record: try Acknowledgements.read(row.origin, on: connection))
      }
    }
    latest.withLock { $0 = read }
    return read.mapValues(\.record)
  }
}
