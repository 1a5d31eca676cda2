import Godwit

/// A line of the notebook.
struct Note: Model {
  static let schema = Schema<Self>("note") {
    Column("text", \.text)
    Validate(\.text, .presence, .length(...200))
  }
  var id = RecordID<Note>()  // sorts by the time of its making
  var text = ""
}
