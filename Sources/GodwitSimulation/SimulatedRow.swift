import Godwit

/// A row with few possible keys, so that replicas meet on it.
package struct SimulatedRow: Model {
  package static let schema = Schema<Self>("simulated") {
    Column("number", \.number)
    Column("word", \.word)
    Column("ratio", \.ratio)
  }
  package var id = ""
  package var number = 0
  package var word = ""
  package var ratio: Double?

  package init() {}
}
