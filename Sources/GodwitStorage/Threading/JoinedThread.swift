import Dispatch
import Foundation
import GodwitBase

/// A thread that is over, its destructors too, when that is said.
///
/// What a thread has done last is not its end: the destructors of its thread-local values run after that, OpenSSL's
/// among them. They free what OpenSSL's cleaning up at the end of the process frees, too, and without a lock
/// (`OPENSSL_cleanup`), so a process must not begin to end while they run.
enum JoinedThread {
  /// Threads are waited for here. None of them waits for another, and this one never calls OpenSSL.
  private static let joining = DispatchQueue(label: "godwit-joining")
  private static let stackByteCount = 8 << 20

  private final class Start {
    private let name: String
    private var body: (() -> Void)?
    let whenEnded: @Sendable () -> Void

    init(_ name: String, _ body: @escaping () -> Void, _ whenEnded: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
      self.whenEnded = whenEnded
    }

    /// What the body holds, keys for one, goes with it.
    func run() {
      Thread.current.name = name
      body?()
      body = nil
    }
  }

  /// Runs the body on a thread of its own.
  ///
  /// - Parameters:
  ///   - name: What the system calls the thread.
  ///   - whenEnded: Runs on another thread when there is nothing left of this one.
  /// - Throws: `busy` when the system gives no thread.
  static func start(
    _ name: String, _ body: @escaping @Sendable () -> Void, whenEnded: @escaping @Sendable () -> Void
  ) throws(GodwitError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stackByteCount)
    let start = Unmanaged.passRetained(Start(name, body, whenEnded))
    var thread = pthread_t()
    let failure = pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument else { return nil }
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        start.run()
        let (own, whenEnded) = (pthread_self(), start.whenEnded)
        JoinedThread.joining.async {
          pthread_join(own, nil)
          whenEnded()
        }
        return nil
      }, start.toOpaque())
    guard failure == 0 else {
      start.release()
      throw GodwitError(
        .busy, "the system gives no thread: \(String(cString: strerror(failure)))",
        hint: "end other programs, or raise the limit of processes")
    }
  }
}
