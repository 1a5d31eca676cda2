import Synchronization

/// What a progress handler was called with.
final class Heard: Sendable {
  let values = Mutex<[Double]>([])

  var hear: @Sendable (Double) -> Void {
    { value in self.values.withLock { $0.append(value) } }
  }
}
