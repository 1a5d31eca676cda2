import Dispatch
import Foundation
import GodwitBase

/// Threads for work that blocks. A thread whose work is done is parked: it waits for the next work, since the system
/// takes longer to make a thread than an opened replica needs it.
///
/// Up to ``parkedLimit`` threads are parked, and never end. Others end, and are joined before their work counts as
/// done: the destructors of a thread's local values, OpenSSL's among them, run after all else that it does. They free
/// what OpenSSL frees at the end of the process, too, and without a lock (`OPENSSL_cleanup`), so a process must not
/// begin to end while they run.
enum WorkerThread {
  /// As many as one replica keeps busy.
  static let parkedLimit = 4
  private static let stackByteCount = 8 << 20
  private static let park = Park()
  /// Threads are joined here. None of them waits for another, and this one never calls OpenSSL.
  private static let joining = DispatchQueue(label: "godwit-joining")

  /// Runs the body on a thread that does nothing else meanwhile.
  ///
  /// - Parameters:
  ///   - name: What the system calls the thread.
  ///   - whenDone: Runs, on any thread, when the body and what it holds is released, and a thread that ends has ended.
  ///     It must not block.
  /// - Throws: `busy` when the system gives no thread.
  static func start(
    _ name: String, _ body: @escaping @Sendable () -> Void, whenDone: @escaping @Sendable () -> Void
  ) throws(GodwitError) {
    let work = Work(name, body, whenDone)
    if !park.passOn(work) { try makeThread(for: work) }
  }

  private static func makeThread(for work: Work) throws(GodwitError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stackByteCount)
    let first = Unmanaged.passRetained(work)
    var thread = pthread_t()
    let failure = pthread_create(
      &thread, &attributes,
      { argument in
        if let argument { WorkerThread.run(Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()) }
        return nil
      }, first.toOpaque())
    guard failure == 0 else {
      first.release()
      throw GodwitError(
        .busy, "the system gives no thread: \(String(cString: strerror(failure)))",
        hint: "end other programs, or raise the limit of processes")
    }
  }

  /// What a thread does: its first work, then what it is given while it is parked.
  private static func run(_ first: Work) {
    var work = first
    while true {
      work.run()
      guard park.enter() else { break }
      work.whenDone()
      work = park.wait()
    }
    let (own, whenDone) = (pthread_self(), work.whenDone)
    joining.async {
      pthread_join(own, nil)
      whenDone()
    }
  }

  private final class Work {
    private let name: String
    private var body: (() -> Void)?
    let whenDone: @Sendable () -> Void

    init(_ name: String, _ body: @escaping () -> Void, _ whenDone: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
      self.whenDone = whenDone
    }

    /// What the body holds, keys for one, is released with it.
    func run() {
      Thread.current.name = name
      body?()
      body = nil
    }
  }

  /// Where threads wait for work. Unchecked Sendable: what may change is touched only under `condition`.
  private final class Park: @unchecked Sendable {
    private let condition = NSCondition()
    private var works: [Work] = []
    /// Threads that wait, or are about to.
    private var parkedCount = 0

    /// Whether a thread is parked that will do the work.
    func passOn(_ work: Work) -> Bool {
      condition.withLock {
        guard parkedCount > works.count else { return false }
        works.append(work)
        condition.signal()
        return true
      }
    }

    /// Whether there is room for the thread that calls this. It counts as parked from then on, so that what begins with
    /// the end of its work finds it.
    func enter() -> Bool {
      condition.withLock {
        guard parkedCount < parkedLimit else { return false }
        parkedCount += 1
        return true
      }
    }

    func wait() -> Work {
      condition.withLock {
        while works.isEmpty { condition.wait() }
        parkedCount -= 1
        return works.removeFirst()
      }
    }
  }
}
