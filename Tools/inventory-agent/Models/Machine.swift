import Foundation
import Godwit

/// A machine whose packages are recorded.
struct Machine: Model, Equatable {
  static let schema = Schema<Self>("machine") {
    Column("name", \.name)
    Column("architecture", \.architecture)
    Column("last_change", \.lastChange)
    Index(\.name)
  }

  var id = RecordID<Machine>()
  /// What its people call it; by default the host name.
  var name = ""
  /// The processor as the kernel calls it, such as `x86_64`.
  var architecture = ""
  /// When a scan last found something new. A scan that finds nothing writes nothing, so that it costs no sync.
  var lastChange: Date?
}
