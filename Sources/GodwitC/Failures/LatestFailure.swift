import CGodwit
import Foundation

/// The latest failure of each thread, in memory that C reads. It goes with the thread.
enum LatestFailure {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { free($0) }
    return key
  }()

  /// Notes a failure of this thread in place of the one before.
  static func note(_ failure: CallFailure) {
    let earlier = pthread_getspecific(key)
    pthread_setspecific(key, block(failure.number, failure.name, failure.message, failure.hint))
    free(earlier)
  }

  /// This thread's, or nil.
  static var current: UnsafeMutablePointer<godwit_error>? {
    pthread_getspecific(key)?.assumingMemoryBound(to: godwit_error.self)
  }

  /// A copy of it, which `free` takes back; nil where there is none, or memory is full.
  static func copy() -> UnsafeMutablePointer<godwit_error>? {
    guard let failure = current?.pointee else { return nil }
    func text(_ place: UnsafePointer<CChar>?) -> String? { place.map { String(cString: $0) } }
    return block(failure.code, text(failure.name), text(failure.message), text(failure.hint))
  }

  /// A failure with its texts in one piece of memory.
  private static func block(_ code: Int32, _ texts: String?...) -> UnsafeMutablePointer<godwit_error>? {
    let texts = texts.map { $0.map { Array($0.utf8CString) } }
    let size = MemoryLayout<godwit_error>.size
    guard let start = malloc(texts.reduce(size) { $0 + ($1?.count ?? 0) }) else { return nil }
    var end = start + size
    let places = texts.map { text -> UnsafePointer<CChar>? in
      guard let text else { return nil }
      let place = end.bindMemory(to: CChar.self, capacity: text.count)
      _ = UnsafeMutableBufferPointer(start: place, count: text.count).initialize(fromContentsOf: text)
      end += text.count
      return UnsafePointer(place)
    }
    let error = start.bindMemory(to: godwit_error.self, capacity: 1)
    error.initialize(
      to: godwit_error(size: size, code: code, name: places[0], message: places[1], hint: places[2]))
    return error
  }
}
