import CGodwit
import Foundation
import Godwit
import GodwitReports
import Logging

/// As `godwit.h` says.
@_cdecl("godwit_version")
public func version() -> UnsafePointer<CChar>? { UnsafePointer(LibraryVersion.text) }

/// As `godwit.h` says.
@_cdecl("godwit_last_error")
public func lastError() -> UnsafePointer<godwit_error>? { UnsafePointer(LatestFailure.current) }

/// As `godwit.h` says.
@_cdecl("godwit_copy_error")
public func copyError() -> UnsafeMutablePointer<godwit_error>? { LatestFailure.copy() }

/// As `godwit.h` says.
@_cdecl("godwit_free")
public func giveMemoryBack(_ memory: UnsafeMutableRawPointer?) { free(memory) }

/// As `godwit.h` says.
@_cdecl("godwit_open")
public func openReplica(
  _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<godwit_options>?,
  _ replica: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  call {
    let place = try Arguments.place(replica, "replica")
    let path = try Arguments.text(path, "path")
    let options = try OpeningOptions(options)
    try HandleTable.claimProcess()
    let opened = try waiting { try await Replica.open(at: path, configuration: try options.configuration()) }
    _ = OpenReplica.closesAtExit
    place.pointee = HandleTable.add(OpenReplica(opened, patience: options.patience))
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_close")
public func closeReplica(_ handle: OpaquePointer?) -> Int32 {
  guard let handle else { return GODWIT_OK }
  return call {
    let open: OpenReplica = try HandleTable.find(handle)
    try open.beginClosing()
    HandleTable.remove(handle)
    for watch in HandleTable.all(OpenWatch.self) where watch.replica === open.replica { watch.finish() }
    HandleTable.removeAll(OpenCache.self) { $0.owner === open }
    try waiting { await open.replica.close() }
    // No thread works for the replica any more.
    open.upkeep.wait()
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_status")
public func status(
  _ handle: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
  call {
    let place = try Arguments.place(json, "status")
    let open: OpenReplica = try HandleTable.find(handle)
    let status = try open.working { replica in
      StatusReport(replica: replica, status: try await replica.status(), members: try await replica.members.list())
    }
    Arguments.give(status.json, to: place)
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_interrupt")
public func interrupt(_ handle: OpaquePointer?) -> Int32 {
  call { try HandleTable.find(handle, OpenReplica.self).interrupt() }
}

/// `godwit_options`, of this library's size or an earlier one's.
private struct OpeningOptions: Sendable {
  private let name: String?
  private let keyring: String?
  private let machineKey: String?
  private let passphraseFile: String?
  private let migrations: String?
  private let mustExist: Bool
  private let isReadOnly: Bool
  private let isPostQuantum: Bool
  let patience: TimeInterval

  init(_ pointer: UnsafePointer<godwit_options>?) throws {
    var options = godwit_options()
    if let pointer {
      let size = UnsafeRawPointer(pointer).loadUnaligned(as: Int.self)
      guard size <= MemoryLayout<godwit_options>.size else {
        throw GodwitError(
          .unsupportedVersion, "the options are of a later version of the library",
          hint: "install the one that the program was compiled for")
      }
      // A later version of the library also takes the sizes of those before it.
      guard size == MemoryLayout<godwit_options>.size else {
        throw CallFailure.misuse("the options have the size \(size)", hint: "begin with GODWIT_OPTIONS")
      }
      options = pointer.pointee
    }
    name = try Arguments.optional(options.name, "name")
    keyring = try Arguments.optional(options.keyring, "keyring's path")
    machineKey = try Arguments.optional(options.machine_key, "machine key's path")
    passphraseFile = try Arguments.optional(options.passphrase_file, "passphrase file's path")
    migrations = try Arguments.optional(options.migrations, "migrations")
    mustExist = options.must_exist != 0
    isReadOnly = options.read_only != 0
    isPostQuantum = options.post_quantum != 0
    guard options.busy_milliseconds >= 0 else { throw CallFailure.misuse("busy_milliseconds is negative") }
    patience = options.busy_milliseconds == 0 ? 5 : Double(options.busy_milliseconds) / 1_000
    guard passphraseFile == nil || machineKey == nil else {
      throw GodwitError(.invalidArgument, "both a machine key and a passphrase are given", hint: "give one of them")
    }
  }

  func configuration() throws -> Replica.Configuration {
    let key: Replica.KeySource =
      if let passphraseFile {
        .keyring(at: keyring, openedBy: [.passphrase(file: passphraseFile)])
      } else {
        .keyring(at: keyring, machineKey: machineKey)
      }
    return Replica.Configuration(
      name: name, key: key, migrations: try migrations.map { try Migrations(json: Array($0.utf8)) } ?? .none,
      mustExist: mustExist, isReadOnly: isReadOnly, isPostQuantum: isPostQuantum,
      // A library writes nothing to its program's terminal.
      logger: Logger(label: "godwit") { _ in SwiftLogNoOpLogHandler() })
  }
}

/// The version as C reads it.
///
/// Unsafe only in name: it is written once.
private enum LibraryVersion {
  nonisolated(unsafe) static let text = CText.copy(GodwitVersion.current)
}
