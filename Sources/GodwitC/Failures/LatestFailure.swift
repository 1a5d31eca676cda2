import CGodwit
import Foundation

/// The latest failure of each thread, in memory that C reads. It goes with the thread.
final class LatestFailure {
  private let error: UnsafeMutablePointer<godwit_error>
  private let texts: [UnsafeMutablePointer<CChar>?]

  private init(_ failure: CallFailure) {
    let texts = [CText.copy(failure.name), CText.copy(failure.message), failure.hint.flatMap(CText.copy)]
    self.texts = texts
    error = .allocate(capacity: 1)
    error.initialize(
      to: godwit_error(
        size: MemoryLayout<godwit_error>.size, code: failure.number, name: UnsafePointer(texts[0]),
        message: UnsafePointer(texts[1]), hint: UnsafePointer(texts[2])))
  }

  deinit {
    for text in texts { free(text) }
    error.deallocate()
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { place in
      if let place { Unmanaged<LatestFailure>.fromOpaque(place).release() }
    }
    return key
  }()

  /// Notes a failure of this thread in place of the one before.
  static func note(_ failure: CallFailure) {
    let earlier = pthread_getspecific(key)
    pthread_setspecific(key, Unmanaged.passRetained(LatestFailure(failure)).toOpaque())
    if let earlier { Unmanaged<LatestFailure>.fromOpaque(earlier).release() }
  }

  /// This thread's, or nil.
  static var current: UnsafePointer<godwit_error>? {
    guard let place = pthread_getspecific(key) else { return nil }
    return UnsafePointer(Unmanaged<LatestFailure>.fromOpaque(place).takeUnretainedValue().error)
  }
}
