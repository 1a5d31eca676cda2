/// Carries a value that its owner has given away, such as a `sending` closure, to the one thread that uses it.
///
/// Swift holds that nobody else uses a `sending` argument afterwards; the closures that take it to another thread must
/// be `Sendable` all the same, and cannot state that they run once.
package struct Handover<Content>: @unchecked Sendable {
  /// What is carried. It is used by one thread at a time.
  package let content: Content

  /// Carries a value that nobody else has any more.
  package init(_ content: sending Content) { self.content = content }
}
