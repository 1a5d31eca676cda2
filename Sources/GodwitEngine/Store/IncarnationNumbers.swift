/// Where the numbers of new incarnations come from (Specs/incarnations.md). They are passed in, as the time is, so that
/// worlds made from a seed are the same each time: of equal timestamps the origins decide.
package struct IncarnationNumbers: Sendable {
  /// A number from 1 on, which no other incarnation of the replica has but by chance.
  let next: @Sendable () -> UInt32

  package init(next: @escaping @Sendable () -> UInt32) { self.next = next }

  package static let random = IncarnationNumbers {
    var generator = SystemRandomNumberGenerator()
    return UInt32.random(in: 1...UInt32.max, using: &generator)
  }
}
