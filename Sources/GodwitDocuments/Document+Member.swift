import GodwitCore

extension Document {
  /// A member of a collection's documents that merges in a way of its own: `members: [.counter("hits"), .set("tags")]`.
  ///
  /// What one program declares holds for every replica of the group from the first document on that it writes.
  public struct Member: Hashable, Sendable {
    let name: String
    let kind: CollectionTable.Kind

    /// An integer to which concurrent changes add up.
    public static func counter(_ name: String) -> Document.Member { Document.Member(name: name, kind: .counter) }

    /// An array without order or repetition, of which concurrent edits are united.
    public static func set(_ name: String) -> Document.Member { Document.Member(name: name, kind: .set) }
  }
}
