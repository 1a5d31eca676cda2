import Foundation
import GodwitBase
import GodwitCrypto
import GodwitFiles

/// A folder as a remote: a stick, a share, what a synchronizer copies. No lock is used, and no clock asked but that of
/// its file system; whatever stands there may be another's, or half a file.
package struct FolderCarrier: Carrier {
  /// An absolute path.
  package let root: String

  package init(_ root: String) { self.root = root }

  package var mayBeAway: Bool { true }

  /// How much of a file its tag is made from: an age file has its random key in it.
  static let headByteCount = 160

  package func list(_ folder: String, meter: TransferMeter) throws -> [CarriedFile] {
    let path = "\(root)/\(folder)"
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      guard !PrivateFile.exists(path) else { throw Self.failure("read the folder", path, Self.reason(path)) }
      try requireRoot()
      return []
    }
    try Self.requireNoLink(path)
    return try names.filter { !$0.hasPrefix(".") }.compactMap { name in
      try meter.requireGoing()
      return try listed("\(folder)/\(name)", meter: meter)
    }
  }

  /// What this user may not read, or a disk does not give, is listed all the same: it is no file that is gone.
  private func listed(_ name: String, meter: TransferMeter) throws -> CarriedFile? {
    do {
      return try find(name, meter: meter)
    } catch let error as GodwitError where [.refused, .fileAccess].contains(error.code) {
      var status = stat()
      guard lstat("\(root)/\(name)", &status) == 0 else {
        if errno == ENOENT { return nil } else { throw error }
      }
      guard status.st_mode & S_IFMT == S_IFREG else { return nil }
      return CarriedFile(name: name, size: Int(status.st_size), tag: "", isReadable: false)
    }
  }

  package func find(_ name: String, meter: TransferMeter) throws -> CarriedFile? {
    try open(name).map { try Self.describe($0, name) }
  }

  package func read(_ name: String, into sink: any ByteSink, limit: Int, meter: TransferMeter) throws -> CarriedFile? {
    guard let file = try open(name) else { return nil }
    let described = try Self.describe(file, name)
    guard described.size <= limit else { throw GodwitError.tooLarge(name, limit) }
    var count = 0
    try LocalFile.forEachPiece(of: RemoteFile(file), atMost: meter.pieceLimit) { piece in
      try meter.requireGoing()
      count += piece.count
      guard count <= limit else { throw GodwitError.tooLarge(name, limit) }
      try sink.write(piece)
      meter.moved(count)
      meter.spend(piece.count)
    }
    return described
  }

  /// A full stick is the remote's matter and not this machine's: `refused`.
  package func write(_ name: String, from path: String, meter: TransferMeter) throws -> CarriedFile {
    do {
      return try copy(name, from: path, meter: meter)
    } catch let error as GodwitError where error.code == .diskFull {
      throw GodwitError(
        .refused, "the remote is full: \(error.message)", hint: "free some space there", underlying: error)
    } catch let error as GodwitError where error.code == .fileAccess {
      throw try reason(for: error, at: name)
    }
  }

  /// What is wrong with the root where a file in it cannot be written: who is to act, and whether waiting helps.
  private func reason(for error: GodwitError, at name: String) throws(GodwitError) -> GodwitError {
    try requireRoot()
    var system = statvfs()
    if statvfs(root, &system) == 0, system.f_flag & UInt(ST_RDONLY) != 0 {
      return GodwitError(
        .refused, "the folder \(root) can only be read: \(error.message)", hint: "mount what it lies on to be written",
        underlying: error)
    }
    // It was made before the file: what lay there is mounted no more.
    guard PrivateFile.exists(FilePath.folder(of: "\(root)/\(name)")) else {
      return GodwitError(
        .unreachable, "the folder \(root) went away meanwhile: \(error.message)", hint: "mount what it lies on",
        underlying: error)
    }
    return Self.meaning(of: error)
  }

  private func copy(_ name: String, from path: String, meter: TransferMeter) throws -> CarriedFile {
    try requireRoot()
    let place = "\(root)/\(name)"
    let folder = FilePath.folder(of: place)
    if folder != root {
      // It may have gone since the pass began, and left an empty folder that it was mounted on.
      guard PrivateFile.exists("\(root)/\(RemoteName.marker)") else {
        throw GodwitError(
          .unreachable, "the folder \(root) is no remote any more: it was emptied, or is not mounted",
          hint: "mount what it lies on; one that was emptied is made a remote again by: godwit remote add")
      }
      try makeFolder(folder)
    }
    let pending = try FolderFile(place)
    FolderLeftovers.remove(beside: place, olderThan: pending)
    let source = try FileDescriptor.openPlainForReading(path)
    let described = CarriedFile(
      name: name, size: try source.size(), tag: try Self.tag(of: source, size: source.size()))
    var count = 0
    try LocalFile.forEachPiece(of: source, atMost: meter.pieceLimit) { piece in
      try meter.requireGoing()
      try pending.write(piece)
      count += piece.count
      meter.moved(count)
      meter.spend(piece.count)
    }
    try meter.requireGoing()
    try pending.commit()
    return described
  }

  package func remove(_ name: String, meter: TransferMeter) throws {
    let path = try place(of: name)
    guard unlink(path) == 0 || errno == ENOENT else {
      throw try reason(for: GodwitError.file("remove", path, errno), at: name)
    }
  }

  package func honoursConditions(_ name: String, from path: String) throws -> Bool? { nil }

  /// Where a file lies or would lie, in a folder that is none elsewhere.
  private func place(of name: String) throws(GodwitError) -> String {
    let path = "\(root)/\(name)"
    let folder = FilePath.folder(of: path)
    if folder != root, PrivateFile.exists(folder) { try Self.requireNoLink(folder) }
    return path
  }

  /// Makes the root where it is not there and the folder above it is, so that no path is made below a place where
  /// nothing is mounted.
  ///
  /// - Throws: `refused`, `unreachable`, `fileAccess`.
  package func makeRoot() throws(GodwitError) {
    guard mkdir(root, 0o777) != 0, errno != EEXIST, errno != ENOENT else { return }
    throw Self.failure("make the folder", root, errno)
  }

  /// A link there might lead anywhere, and is not followed. Who may write to the root may write to the folder, too,
  /// whatever this user's umask says.
  private func makeFolder(_ path: String) throws(GodwitError) {
    if mkdir(path, 0o777) == 0 {
      // Somebody else who may write there may have put a link in its place already.
      let made = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      var status = stat()
      if made >= 0, stat(root, &status) == 0 { fchmod(made, status.st_mode & 0o3777) }
      if made >= 0 { close(made) }
    } else if errno != EEXIST {
      throw Self.failure("make the folder", path, errno)
    }
    try Self.requireNoLink(path)
  }

  /// Why a folder that is there cannot be read.
  private static func reason(_ path: String) -> Int32 {
    let descriptor = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor < 0 else {
      close(descriptor)
      return EIO
    }
    return errno
  }

  private static func failure(_ doing: String, _ path: String, _ number: Int32) -> GodwitError {
    meaning(of: .file(doing, path, number))
  }

  /// What a file system says of a remote: who lacks a right there has to be given it, and a share whose server is away
  /// comes back.
  static func meaning(of error: GodwitError) -> GodwitError {
    switch (error.underlying as? SystemFailure)?.number {
    case EACCES, EPERM:
      GodwitError(.refused, error.message, hint: "the folder's owner has to allow that", underlying: error.underlying)
    case ESTALE, ETIMEDOUT, ENOTCONN, EHOSTDOWN, EHOSTUNREACH, EREMOTEIO:
      GodwitError(
        .unreachable, error.message, hint: "what it lies on is away: try again later, or mount it anew",
        underlying: error.underlying)
    default: error
    }
  }

  private static func requireNoLink(_ path: String) throws(GodwitError) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw GodwitError(.unsafeFile, "\(path) is not a folder", hint: "see who put it there, and remove it")
    }
  }

  /// Throws `unreachable` for a root that is not there: a stick that is not mounted.
  private func requireRoot() throws(GodwitError) {
    var status = stat()
    guard stat(root, &status) == 0 else {
      if errno == EACCES {
        throw GodwitError(
          .refused, "this user may not reach the folder \(root)", hint: "the owner of a folder above it has to allow it"
        )
      }
      throw GodwitError(
        .unreachable, "the folder \(root) cannot be reached: \(String(cString: strerror(errno)))",
        hint: "mount what it lies on, or make it: mkdir -p \(ShellWord.quoted(root))")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw GodwitError(.refused, "\(root) is not a folder", hint: "give a folder's path: godwit remote add NAME PATH")
    }
  }

  /// Nil for what is no plain file, or gone.
  private func open(_ name: String) throws(GodwitError) -> FileDescriptor? {
    let path = try place(of: name)
    let descriptor = Foundation.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT, ELOOP, ENXIO:
        if errno == ENOENT { try requireRoot() }
        return nil
      case ENOTDIR:
        try requireRoot()
        throw .file("open", path, ENOTDIR)
      case EMFILE, ENFILE:
        throw GodwitError(
          .busy, "cannot open \(path): \(String(cString: strerror(errno)))", hint: "close other programs, or ulimit -n")
      case EACCES:
        throw GodwitError(
          .refused, "this user may not read \(path)", hint: "its owner has to allow it, and the folder that it is in")
      default: throw Self.failure("open", path, errno)
      }
    }
    let file = FileDescriptor(descriptor, path: path)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return file
  }

  private static func describe(_ file: FileDescriptor, _ name: String) throws -> CarriedFile {
    do {
      let size = try file.size()
      return CarriedFile(name: name, size: size, tag: try tag(of: file, size: size))
    } catch let error as GodwitError {
      throw meaning(of: error)
    }
  }

  /// Leaves the file at its beginning.
  private static func tag(of file: FileDescriptor, size: Int) throws -> String {
    var head = [UInt8](repeating: 0, count: headByteCount)
    let count = head.withUnsafeMutableBytes { pread(file.rawValue, $0.baseAddress, $0.count, 0) }
    guard count >= 0 else { throw failure("read", file.path, errno) }
    let hash = head.prefix(count).withUnsafeBytes { ContentHash(of: $0) }
    return "\(size)-\(hash.hexadecimal.prefix(16))"
  }
}

/// A file at the remote while it is read: what its disk does not give is wrong with it alone.
final class RemoteFile: ByteSource {
  private let file: FileDescriptor

  init(_ file: FileDescriptor) { self.file = file }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    do {
      return try file.read(into: buffer)
    } catch let error as GodwitError where error.code == .fileAccess {
      let meaning = FolderCarrier.meaning(of: error)
      guard meaning.code != .unreachable else { throw meaning }
      throw GodwitError(
        .truncatedFile, error.message, hint: "if what it lies on is damaged, remove it", underlying: error)
    }
  }
}

extension GodwitError {
  static func tooLarge(_ name: String, _ limit: Int) -> GodwitError {
    GodwitError(.limitExceeded, "\(name) at the remote is larger than \(limit) bytes", hint: "it was not fetched")
  }
}
