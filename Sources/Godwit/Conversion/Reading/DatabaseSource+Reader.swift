import Foundation
import GodwitBase
import Synchronization

extension DatabaseSource {
  /// Where another program's database is read, of which a replica is made. A database can be made on purpose to make
  /// SQLite run into a fault; see ``Replica/make(at:from:name:key:postQuantum:reader:progress:)``.
  public struct Reader: Sendable {
    /// What is started to read.
    struct Program: Sendable {
      let path: String
      var arguments = [ReaderProcess.argument]
      /// What it may take, of a database of a size.
      var limits: @Sendable (_ byteCount: Int) -> ReaderLimits = { ReaderLimits(byteCount: $0) }
    }

    private enum Place {
      case child(Program)
      case thisProcess
    }

    private let place: Place

    /// The program is started anew, and reads the database with limits on memory, time and system calls, without the
    /// replica's keys. The program must call ``serveIfAsked()`` at its start.
    public static let child = DatabaseSource.Reader(place: .child(Program(path: ownProgram)))

    /// The process that makes the replica also reads the database: for one that is trusted, such as the program's own.
    public static let thisProcess = DatabaseSource.Reader(place: .thisProcess)

    private static let ownProgram = "/proc/self/exe"
    private static let canServe = Atomic(false)

    /// The same as ``child`` with another program, which serves.
    static func child(_ program: Program) -> DatabaseSource.Reader { DatabaseSource.Reader(place: .child(program)) }

    /// Reads a database for the process that started this one, and ends, if that is what it was started for; returns at
    /// once otherwise. A program that makes replicas of databases calls it first of all in its `main`, before it opens
    /// anything or starts a thread.
    public static func serveIfAsked() {
      let arguments = CommandLine.arguments
      var status = stat()
      guard arguments.count == 2, arguments[1] == ReaderProcess.argument,
        fstat(ReaderSocket.childDescriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK
      else { return canServe.store(true, ordering: .relaxed) }
      ReaderServer.run()
    }

    /// The program to start; nil for this process.
    ///
    /// Throws `invalidArgument` for one that would not serve.
    func program() throws -> Program? {
      guard case .child(let program) = place else { return nil }
      guard program.path != Self.ownProgram || Self.canServe.load(ordering: .relaxed) else {
        throw GodwitError(
          .invalidArgument, "the database is to be read by this program started anew, which it is not prepared for",
          hint: "call DatabaseSource.Reader.serveIfAsked() first of all in main; or, for a database that you trust, "
            + "give reader: .thisProcess")
      }
      return program
    }
  }
}
