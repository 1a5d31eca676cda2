import GodwitBase
import GodwitReplication

/// A collection by name, with what the program declares of its members. A name that no collection can have shows at the
/// first use.
struct CollectionAddress: Sendable {
  let collection: String
  let members: [DocumentMember]
  private let written: Result<String, GodwitError>

  init(_ collection: String, members: [DocumentMember]) {
    self.collection = collection
    self.members = members
    do {
      written = .success(try CollectionTable.name(of: collection))
    } catch {
      written = .failure((error as? GodwitError) ?? GodwitError(.invalidArgument, "the name is none", underlying: error))
    }
  }

  /// The table's name.
  func table() throws -> String { try written.get() }
}
