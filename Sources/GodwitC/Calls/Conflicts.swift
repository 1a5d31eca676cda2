import CGodwit
import Godwit
import GodwitReports

/// As `godwit.h` says.
@_cdecl("godwit_conflicts")
public func conflicts(
  _ handle: OpaquePointer?, _ limit: Int, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
  call {
    let place = try Arguments.place(json, "conflicts")
    let open: OpenReplica = try HandleTable.find(handle)
    guard limit >= 0 else { throw CallFailure.misuse("the limit is out of range") }
    let (list, names) = try open.working { replica in
      (try await replica.conflicts.list(limit: limit), ReplicaNames(try await replica.members.list()))
    }
    Arguments.give(.array(list.map { $0.json(names) }), to: place)
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_conflict_restore")
public func restoreConflict(
  _ handle: OpaquePointer?, _ number: Int64, _ written: UnsafeMutablePointer<Int32>?
) -> Int32 {
  call {
    written?.pointee = 0
    let open: OpenReplica = try HandleTable.find(handle)
    guard let id = Conflict.ID("\(number)") else {
      throw GodwitError(.notFound, "there is no conflict \(number)")
    }
    let hasWritten = try open.working { try await $0.conflicts.restore(id) }
    written?.pointee = hasWritten ? 1 : 0
  }
}
