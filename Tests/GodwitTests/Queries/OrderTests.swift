import Foundation
import Godwit
import Testing

private struct Amount: Model {
  static let schema = Schema<Self>("amount") {
    Column("value", \.value)
    Column("rest", \.rest)
  }
  var id = 0
  var value = Decimal(0)
  var rest: Decimal?
}

@Suite("An order")
struct OrderTests {
  @Test("sorts decimals as numbers, nil before them")
  func decimals() async throws {
    let replica = try await Replica.temporary(models: Amount.self)
    let numbers = ["9", "10", "-2", "-10", "0.5", "1000000000000000000000", "100"].compactMap { Decimal(string: $0) }
    try await replica.write { transaction in
      for (index, number) in numbers.enumerated() {
        try transaction.insert(Amount(id: index, value: number, rest: index == 3 ? nil : number))
      }
    }
    #expect(try await replica.fetch(Amount.order(by: \.value)).map(\.value) == numbers.sorted())
    #expect(try await replica.fetch(Amount.order(by: \.value, .descending)).map(\.value) == numbers.sorted().reversed())
    let rests = try await replica.fetch(Amount.order { [$0.rest.ascending] }.select { $0.rest })
    #expect(rests == [nil] + numbers.filter { $0 != numbers[3] }.sorted())
    let joined = Amount.fullJoin(Amount.self) { $0.id == $1.id }.order { first, _ in [first.value.descending] }
    #expect(try await replica.fetch(joined).compactMap { $0.0?.value } == numbers.sorted().reversed())
    await replica.close()
  }
}
