import GodwitBase
import GodwitCore
import GodwitStorage

/// How far forgetting has gone, a piece at a time: of what this covers the log and the row states may lack anything,
/// and of what it does not, nothing. It is not above what every member held (Specs/forgetting.md, "What goes").
package enum ForgottenVector {
  package static func load(_ log: ChangeLog, on connection: Connection) throws -> VersionVector {
    let meta = try Meta.all(on: connection)
    let begun = try [Meta.forgottenThrough, .forgetting, .forgotten].reduce(VersionVector()) { begun, name in
      begun.union(try VersionVector(stored: meta[name]))
    }
    return log.origins.floor.union(begun.intersection(log.origins.foldedVector))
  }

  /// Says that what this covers is about to go.
  static func extend(to vector: VersionVector, on connection: Connection) throws {
    let before = try VersionVector(stored: Meta.all(on: connection)[.forgottenThrough])
    guard !before.covers(vector) else { return }
    try Meta.set(.forgottenThrough, before.union(vector).stored, on: connection)
  }
}

extension VersionVector {
  /// Empty when there is nothing.
  init(stored value: Value?) throws {
    guard case .blob(let bytes)? = value else {
      self.init()
      return
    }
    var reader = ByteReader(bytes)
    self = try VersionVector(reading: &reader)
  }

  var stored: Value {
    var writer = ByteWriter()
    write(to: &writer)
    return .blob(writer.bytes)
  }
}
