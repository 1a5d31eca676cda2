import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys
import GodwitStorage

/// Another program's database about to be read, in this process or in one of its own.
struct SourceOpening {
  /// A copy of the database's pages under a key that nobody else has, made for reading.
  private struct Copy {
    let path: String
    let key: SecretBytes
    let pageSize: Int
  }

  let source: DatabaseSource
  let state: SourceState
  /// What is started to read it; nil for this process.
  let program: DatabaseSource.Reader.Program?
  /// Called while an answer is waited for.
  var check: () throws -> Void = {}
  private var copy: Copy?

  init(source: DatabaseSource, state: SourceState, program: DatabaseSource.Reader.Program?) {
    self.source = source
    self.state = state
    self.program = program
  }

  /// Makes a copy of a SQLCipher database that the SQLCipher in use can read.
  mutating func seal(_ secret: SecretBytes, to path: String, progress: (Double) throws -> Void) throws {
    let pages = try SQLCipherSource(source.path, secret: secret)
    let key = SecretBytes(random: 32)
    try DatabaseFile.create(path)
    try pages.seal(to: PrivateFile.open(path, writing: true), key: key, progress: progress)
    copy = Copy(path: path, key: key, pageSize: pages.pageSize)
  }

  /// Lends the rows of one state, which keeps others from writing where the file has locks.
  func withRows<Output>(_ body: (any SourceRows) throws -> Output) throws -> Output {
    let (path, pageSize) = (copy?.path ?? source.path, copy?.pageSize ?? 0)
    if let program {
      let limits = program.limits(state.byteCount)
      let order = ReaderOrder(path: path, key: copy?.key, pageSize: pageSize, limits: limits)
      return try body(RemoteSource(order, limits, path: source.path, program: program, check: check))
    }
    let connection = try Connection(foreign: path, key: copy?.key, pageSize: pageSize) {}
    try connection.execute("BEGIN")
    return try connection.withStepBudget(ReaderLimits(byteCount: state.byteCount).steps) { try body(connection) }
  }
}
