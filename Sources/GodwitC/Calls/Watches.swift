import CGodwit
import Foundation
import Godwit

/// As `godwit.h` says.
@_cdecl("godwit_watch_open")
public func openWatch(
  _ handle: OpaquePointer?, _ tables: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int,
  _ descriptor: UnsafeMutablePointer<Int32>?, _ watch: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  call {
    descriptor?.pointee = -1
    let place = try Arguments.place(watch, "watch")
    guard let descriptor else { throw CallFailure.misuse("there is no place for the descriptor") }
    let replica = try HandleTable.find(handle, OpenReplica.self).replica
    guard count == 0 || tables != nil else { throw CallFailure.misuse("the tables are NULL") }
    let names = try UnsafeBufferPointer(start: tables, count: max(count, 0)).map {
      try Arguments.text($0, "table's name")
    }
    let opened = try OpenWatch(replica, tables: names)
    descriptor.pointee = opened.descriptor
    place.pointee = HandleTable.add(opened)
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_watch_clear")
public func clearWatch(_ handle: OpaquePointer?, _ changed: UnsafeMutablePointer<Int32>?) -> Int32 {
  call {
    changed?.pointee = 0
    let hasChanged = try HandleTable.find(handle, OpenWatch.self).clear()
    changed?.pointee = hasChanged ? 1 : 0
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_watch_close")
public func closeWatch(_ handle: OpaquePointer?) -> Int32 {
  guard let handle else { return GODWIT_OK }
  return call {
    let watch: OpenWatch = try HandleTable.find(handle)
    HandleTable.remove(handle)
    watch.stop()
  }
}
