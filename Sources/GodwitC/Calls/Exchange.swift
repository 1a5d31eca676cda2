import CGodwit
import Foundation
import Godwit
import GodwitReports

/// As `godwit.h` says.
@_cdecl("godwit_export")
public func exportFile(
  _ handle: OpaquePointer?, _ file: UnsafePointer<CChar>?, _ member: UnsafePointer<CChar>?, _ flags: Int32,
  _ report: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
  call {
    report?.pointee = nil
    let open: OpenReplica = try HandleTable.find(handle)
    try requireFlags(flags, among: GODWIT_ALL | GODWIT_STATE)
    let (path, member) = (try Arguments.text(file, "file's path"), try Arguments.optional(member, "member's name"))
    let done = try open.working { replica in
      flags & GODWIT_STATE != 0
        ? try await replica.exportState(to: .file(path), for: member)
        : try await replica.export(to: .file(path), for: member, includesAll: flags & GODWIT_ALL != 0)
    }
    Arguments.give(done.json(path), to: report)
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_import")
public func importFile(
  _ handle: OpaquePointer?, _ file: UnsafePointer<CChar>?, _ flags: Int32,
  _ report: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
  call {
    report?.pointee = nil
    let open: OpenReplica = try HandleTable.find(handle)
    try requireFlags(flags, among: GODWIT_REJOIN)
    let path = try Arguments.text(file, "file's path")
    let (done, names) = try open.working { replica in
      let done =
        flags & GODWIT_REJOIN != 0
        ? try await replica.rejoin(from: .file(path)) : try await replica.import(from: .file(path))
      return (done, ReplicaNames(try await replica.members.list()))
    }
    Arguments.give(.object(done.fields(path, names, on: open.replica)), to: report)
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_remote_add")
public func addRemote(
  _ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ url: UnsafePointer<CChar>?
) -> Int32 {
  call {
    let open: OpenReplica = try HandleTable.find(handle)
    let (name, url) = (try Arguments.text(name, "remote's name"), try Arguments.text(url, "URL"))
    _ = try open.working { try await $0.remotes.add(name, at: url) }
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_remote_remove")
public func removeRemote(_ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> Int32 {
  call {
    let open: OpenReplica = try HandleTable.find(handle)
    let name = try Arguments.text(name, "remote's name")
    try open.working { try await $0.remotes.remove(name) }
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_remotes")
public func remotes(
  _ handle: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
  call {
    let place = try Arguments.place(json, "remotes")
    let open: OpenReplica = try HandleTable.find(handle)
    let remotes = try open.working { try await $0.remotes.list() }
    Arguments.give(.array(remotes.map(\.json)), to: place)
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_sync")
public func sync(
  _ handle: OpaquePointer?, _ remote: UnsafePointer<CChar>?, _ flags: Int32,
  _ report: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
  call {
    report?.pointee = nil
    let open: OpenReplica = try HandleTable.find(handle)
    try requireFlags(flags, among: GODWIT_REJOIN | GODWIT_COLLECT)
    let names = try Arguments.optional(remote, "remote's name").map { [$0] } ?? []
    let (done, members) = try open.working { replica in
      let done = try await replica.sync(
        with: names, isRejoining: flags & GODWIT_REJOIN != 0, isCollecting: flags & GODWIT_COLLECT != 0)
      return (done, try await replica.members.list())
    }
    Arguments.give(.array(done.json(ReplicaNames(members))), to: report)
    if let failed = done.remotes.first(where: { $0.error != nil }), let error = failed.error {
      throw GodwitError(error.code, "\(failed.name): \(error.message)", hint: error.hint)
    }
  }
}

private func requireFlags(_ flags: Int32, among known: Int32) throws {
  guard flags & ~known == 0 else { throw CallFailure.misuse("flags are not of this function: \(flags & ~known)") }
}
