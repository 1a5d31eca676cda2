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
    let open = try HandleTable.find(handle, OpenReplica.self)
    guard (0...Arguments.greatestCount).contains(count) else {
      throw CallFailure.misuse("\(count) tables are out of range")
    }
    guard count == 0 || tables != nil else { throw CallFailure.misuse("the tables are NULL") }
    let names = try UnsafeBufferPointer(start: tables, count: count).map {
      try Arguments.text($0, "table's name")
    }
    try requireTables(names, of: open)
    let opened = try OpenWatch(open.replica, tables: names)
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
    watch.close()
  }
}

/// Throws `notInSchema` for a name that is no table's: a view changes with the tables that it reads. A collection's
/// table comes with its first document.
private func requireTables(_ names: [String], of open: OpenReplica) throws {
  let others = names.filter { !$0.hasPrefix("documents_") }
  guard !others.isEmpty else { return }
  let unknown = try open.working(isReading: true) { replica in
    try await replica.read { reader in
      try others.first { name in
        try reader.rows(
          "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = \(name) COLLATE NOCASE"
        ).isEmpty
      }
    }
  }
  guard let unknown else { return }
  throw GodwitError(
    .notInSchema, "there is no table \(unknown)",
    hint: "the table of the collection \(unknown) is documents_\(unknown)")
}
