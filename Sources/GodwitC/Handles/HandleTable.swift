import Foundation
import Synchronization

/// What C holds handles of. A handle is a number that is never used twice, so that one that is closed, or never was a
/// handle, is found out whatever the caller does.
enum HandleTable {
  private struct State {
    var objects: [UInt: any Handled] = [:]
    var latest: UInt = 0
  }

  /// Handles are far apart from small numbers, and no addresses: the lowest bit is set.
  private static let step: UInt = 2
  private static let first: UInt = 0x60D1_0001
  private static let state = Mutex(State())
  /// The process that has opened a replica, or 0. It may not change: threads do not come along to a child.
  private static let process = Atomic<Int32>(0)

  /// Throws in a child of the process that has used the library.
  static func requireProcess() throws(CallFailure) {
    let process = process.load(ordering: .relaxed)
    guard process == 0 || process == getpid() else { throw .forked }
  }

  /// Notes that this process uses the library; throws in a child of one that does.
  static func claimProcess() throws(CallFailure) {
    try requireProcess()
    _ = process.compareExchange(expected: 0, desired: getpid(), ordering: .relaxed)
  }

  static func add(_ object: some Handled) -> OpaquePointer? {
    let number = state.withLock { state in
      state.latest += step
      let number = first + state.latest
      state.objects[number] = object
      object.note(number)
      return number
    }
    return OpaquePointer(bitPattern: number)
  }

  /// What a handle is of.
  ///
  /// Throws `GODWIT_FORKED` in a child of the process that uses the library, before any lock is taken; `GODWIT_MISUSE`
  /// for one that is NULL, closed, or of another kind.
  static func find<Object: Handled>(_ handle: OpaquePointer?, _ type: Object.Type = Object.self) throws -> Object {
    try requireProcess()
    guard let handle else { throw CallFailure.misuse("the \(Object.title) is NULL") }
    guard let object = state.withLock({ $0.objects[UInt(bitPattern: handle)] }) as? Object else {
      throw CallFailure.misuse("this is no open \(Object.title)", hint: "it was closed, or is a handle of another kind")
    }
    return object
  }

  /// The handle is closed from now on.
  static func remove(_ handle: OpaquePointer) { remove(UInt(bitPattern: handle)) }

  static func remove(_ number: UInt) { _ = state.withLock { $0.objects.removeValue(forKey: number) } }

  /// Closes the handles of a kind of which this holds.
  static func removeAll<Object: Handled>(_ type: Object.Type, where isRemoved: (Object) -> Bool) {
    state.withLock { state in
      state.objects = state.objects.filter { !(($0.value as? Object).map(isRemoved) ?? false) }
    }
  }

  /// All objects of a kind.
  static func all<Object: Handled>(_ type: Object.Type) -> [Object] {
    state.withLock { $0.objects.values.compactMap { $0 as? Object } }
  }
}

/// What a handle can be of.
protocol Handled: AnyObject, Sendable {
  /// What messages call it.
  static var title: String { get }

  /// Gets the handle's number when it is made.
  func note(_ number: UInt)
}

extension Handled {
  func note(_ number: UInt) {}
}
