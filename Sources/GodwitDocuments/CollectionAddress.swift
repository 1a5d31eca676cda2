import GodwitBase
import GodwitModel
import GodwitCore

/// A collection by name, with what the program declares of its members. A name that no collection can have shows at the
/// first use.
package struct CollectionAddress: Sendable {
  package let collection: String
  let members: [Document.Member]
  private let written: Result<(table: String, selectByKey: String), GodwitError>

  package init(_ collection: String, members: [Document.Member]) {
    self.collection = collection
    self.members = members
    do {
      let table = try CollectionTable.name(of: collection)
      let key = SQLName.quoted(CollectionTable.keyColumn)
      written = .success((table, "SELECT * FROM \(SQLName.quoted(table)) WHERE \(key) = ?"))
    } catch {
      written = .failure(
        (error as? GodwitError) ?? GodwitError(.invalidArgument, "the name is none", underlying: error))
    }
  }

  /// Whether the program has declared the member as a set.
  package func declaresSet(_ member: String) -> Bool { members.contains { $0.kind == .set && $0.name == member } }

  /// The table's name.
  package func table() throws -> String { try written.get().table }

  /// All columns of the row of a key.
  package func selectByKey() throws -> String { try written.get().selectByKey }
}
