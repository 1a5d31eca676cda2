@testable import Godwit
@testable import GodwitEngine

extension DatabaseSource.Reader {
  /// A process that reads. The one that runs the tests cannot be started anew for it: its `main` is not ours.
  static let tested = DatabaseSource.Reader.child(Program(path: KillSubject.path))
}
