import GodwitBase
import GodwitModel
import GodwitCore

extension Document {
  /// In which order documents come: by a member, up or down.
  public struct Order: Hashable, Sendable {
    let reference: MemberReference
    let isDescending: Bool

    /// By a member, from small to large: absent ones, numbers, texts.
    public static func ascending(_ member: String) -> Document.Order { by(member, isDescending: false) }
    /// By a member, from large to small.
    public static func descending(_ member: String) -> Document.Order { by(member, isDescending: true) }

    static func by(_ name: String, isDescending: Bool) -> Document.Order {
      let reference: MemberReference = name == CollectionTable.keyColumn ? .key : .member(name)
      return Document.Order(reference: reference, isDescending: isDescending)
    }
  }
}
