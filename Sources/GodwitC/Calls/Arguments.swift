import CGodwit
import Foundation
import Godwit
import GodwitReports

/// Runs what a function of `godwit.h` does, and notes its failure for `godwit_last_error`.
func call(_ body: () throws -> Void) -> Int32 {
  do {
    try body()
    return GODWIT_OK
  } catch {
    let failure = CallFailure(error)
    LatestFailure.note(failure)
    return failure.number
  }
}

/// Runs work of Swift's cooperative threads while the caller's thread, which is none of them, waits for it.
/// `whenStarted` gets the work, and may keep it to cancel it.
func waiting<Output: Sendable>(
  whenStarted: (Task<Void, Never>) -> Void = { _ in }, for body: @escaping @Sendable () async throws -> Output
) throws -> Output {
  let outcome = Outcome<Output>()
  whenStarted(
    Task.detached {
      do { outcome.set(.success(try await body())) } catch { outcome.set(.failure(error)) }
    })
  return try outcome.wait().get()
}

/// A result that one thread waits for.
///
/// Unchecked Sendable: it is set once, before the semaphore is signalled, and read after that.
private final class Outcome<Output: Sendable>: @unchecked Sendable {
  private let isSet = DispatchSemaphore(value: 0)
  private var result: Result<Output, any Error> = .failure(CancellationError())

  func set(_ result: Result<Output, any Error>) {
    self.result = result
    isSet.signal()
  }

  func wait() -> Result<Output, any Error> {
    isSet.wait()
    return result
  }
}

/// What a caller of C gives, and how it gets what it asks for.
enum Arguments {
  /// A text that must be there.
  static func text(_ pointer: UnsafePointer<CChar>?, _ title: String) throws -> String {
    guard let pointer else { throw CallFailure.misuse("the \(title) is NULL") }
    guard let text = String(validatingCString: pointer) else {
      throw GodwitError(.invalidArgument, "the \(title) is not UTF-8")
    }
    return text
  }

  /// A text that may be NULL.
  static func optional(_ pointer: UnsafePointer<CChar>?, _ title: String) throws -> String? {
    try pointer.map { try text($0, title) }
  }

  /// How many parameters a statement has at most, in any SQLite.
  static let greatestCount = 32_766

  /// Values that a statement's parameters are bound to.
  static func values(_ start: UnsafePointer<godwit_value>?, _ count: Int) throws -> [Value] {
    guard (0...greatestCount).contains(count) else { throw CallFailure.misuse("\(count) values are out of range") }
    guard count > 0 else { return [] }
    guard let start else { throw CallFailure.misuse("the values are NULL") }
    return try UnsafeBufferPointer(start: start, count: count).map(value)
  }

  private static func value(_ value: godwit_value) throws -> Value {
    switch value.type {
    case GODWIT_NULL: return .null
    case GODWIT_INTEGER: return .integer(value.integer)
    case GODWIT_REAL: return .real(value.real)
    case GODWIT_TEXT:
      guard let text = String(validating: try bytes(value.bytes, value.length), as: UTF8.self) else {
        throw GodwitError(.invalidArgument, "a text is not UTF-8", hint: "bind bytes as GODWIT_BLOB")
      }
      return .text(text)
    case GODWIT_BLOB: return .blob(Array(try bytes(value.bytes, value.length)))
    default: throw CallFailure.misuse("a value has the type \(value.type), which is none")
    }
  }

  /// Bytes that are lent for the call.
  static func bytes(_ start: UnsafeRawPointer?, _ length: Int) throws -> UnsafeRawBufferPointer {
    guard length >= 0 else { throw CallFailure.misuse("a length is out of range") }
    guard start != nil || length == 0 else { throw CallFailure.misuse("bytes are NULL and have a length") }
    return UnsafeRawBufferPointer(start: start, count: length)
  }

  /// Where a result goes; it must be there, and is NULL until there is one.
  static func place<Result>(
    _ place: UnsafeMutablePointer<Result?>?, _ title: String
  ) throws -> UnsafeMutablePointer<Result?> {
    guard let place else { throw CallFailure.misuse("there is no place for the \(title)") }
    // A caller of C need not have written there.
    place.initialize(to: nil)
    return place
  }

  /// Gives the caller a text of its own, if it has a place for one.
  static func give(_ text: String?, to place: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) {
    place?.pointee = text.flatMap(CText.copy)
  }

  /// The same of JSON.
  static func give(_ json: JSONValue, to place: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) {
    give(json.text, to: place)
  }
}

/// Texts in memory of C's.
enum CText {
  /// A copy that ends with NUL, whatever is in the text; `free` takes it back. Nil when memory is full.
  static func copy(_ text: String) -> UnsafeMutablePointer<CChar>? {
    text.utf8CString.withUnsafeBufferPointer { source in
      guard let start = source.baseAddress, let place = malloc(source.count) else { return nil }
      memcpy(place, start, source.count)
      return place.bindMemory(to: CChar.self, capacity: source.count)
    }
  }
}
