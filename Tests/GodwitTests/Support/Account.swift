import Godwit
import TestFolders

/// What the programs under Tests/KillSubject write.
struct Account: Model {
  static let schema = Schema<Self>("account") {
    Column("balance", \.balance)
    Column("note", \.note)
  }
  var id = 0
  var balance = 0
  var note = MarkerScan.marker
}
