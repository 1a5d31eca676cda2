/// What a capture of changes must be called with to hold exactly the net effect: where a statement or savepoint began,
/// and that everything since was taken back.
package protocol ChangeJournal: AnyObject {
  /// A position that ``rewind(to:)`` can return to.
  func mark() -> Int
  func rewind(to mark: Int)
}
