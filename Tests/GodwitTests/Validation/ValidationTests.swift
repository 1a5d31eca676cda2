import Foundation
import Godwit
import Testing

/// The violations of the `validationFailed` that the body throws; nil when it throws nothing or something else.
func violations(_ body: () throws -> some Any) -> [String]? {
  do {
    _ = try body()
    return nil
  } catch let error as GodwitError where error.code == .validationFailed {
    return error.violations.map(\.description)
  } catch {
    return nil
  }
}

@Suite("Validation")
struct ValidationTests {
  private let pair: ReplicaPair
  init() async throws {
    pair = try await ReplicaPair(
      models: [Order.self, Complete.self, Seat.self, Parcel.self, Folder.self, Note.self])
  }

  /// What is wrong with an order after the change.
  private func judge(_ change: @escaping @Sendable (inout Order) -> Void) async throws -> [String] {
    try await pair.sender.read { stateFile in
      var order = Order()
      change(&order)
      return try stateFile.violations(of: order).map(\.description)
    }
  }

  @Test("a model that keeps its rules is stored, and one without rules never breaks any")
  func valid() async throws {
    #expect(try await judge { _ in } == [])
    #expect(try await pair.sender.read { try $0.violations(of: Note()) } == [])
    try await pair.sender.write { try $0.insert(Order()) }
    #expect(try await pair.sender.count(Order.all) == 1)
    try await pair.expectSame()
  }

  @Test("presence refuses whitespace, nil and empty collections")
  func presence() async throws {
    let found = try await pair.sender.read { stateFile in
      let empty = Complete(text: " \t\n", maybe: " ", map: [:])
      let full = Complete(text: "a", maybe: " b ", list: [0], map: ["": 0], number: 0)
      return try [Complete(), empty, full].map { try stateFile.violations(of: $0).map(\.field) }
    }
    let all = ["text", "maybe", "list", "map", "number"]
    #expect(found == [all, all, []])
  }

  @Test("length counts characters and elements, both ends included")
  func length() async throws {
    #expect(try await judge { $0.title = "" } == ["title must not be empty", "title must have a length in 1...10"])
    #expect(try await judge { $0.title = "éééééééééé" } == [])
    #expect(try await judge { $0.title = "ééééééééééé" } == ["title must have a length in 1...10"])
    #expect(try await judge { $0.labels = ["a", "b", "c"] } == ["labels must have a length in ..<3"])
    #expect(try await judge { $0.contact = "someone@far-far.example" } == ["contact must have a length in ...20"])
  }

  @Test("a property that is not stored is judged under the name it is given")
  func unstored() async throws {
    #expect(try await judge { $0.password = "short" } == ["password must have a length in 8..."])
  }

  @Test("a range includes its ends, refuses NaN, and lets nil pass")
  func range() async throws {
    #expect(try await judge { $0.rating = 0 } == [])
    #expect(try await judge { $0.rating = 10 } == [])
    for bad in [-0.1, 10.1, .nan, .infinity] {
      #expect(try await judge { $0.rating = bad } == ["rating must be in 0.0...10.0"])
    }
  }

  @Test("a pattern must fit the whole text, and lets nil pass")
  func matches() async throws {
    #expect(try await judge { $0.contact = "a@b" } == [])
    for bad in ["", "a", "a@", "a@b@c"] {
      #expect(try await judge { $0.contact = bad } == ["contact does not have the right form"])
    }
  }

  @Test("inclusion refuses what is not listed")
  func inclusion() async throws {
    #expect(try await judge { $0.state = "done" } == [])
    #expect(try await judge { $0.state = "Done" } == ["state is not one of the allowed values"])
  }

  @Test("rules of the program's own judge a field or the whole record")
  func custom() async throws {
    #expect(try await judge { $0.title = "LOUD" } == ["title must not shout"])
    #expect(try await judge { $0.start = 1 } == ["end must not be before start"])
    let found = try await pair.sender.read { try $0.violations(of: Order(start: 1)) }
    #expect(found == [GodwitError.Violation("end must not be before start")])
  }

  @Test("values in values are judged, and violations name the path to them")
  func nested() async throws {
    #expect(try await judge { $0.address.city = "" } == ["address.city must not be empty"])
    #expect(try await judge { $0.billing = Address(code: "x") } == ["billing.code does not have the right form"])
    #expect(
      try await judge { $0.lines = [1, 2, 0, -1].map(OrderLine.init) }
        == ["lines[2].amount must be in 1...", "lines[3].amount must be in 1..."])
    #expect(
      try await judge { $0.billing = Address(tags: [Tag(), Tag(name: ""), Tag(name: "?")]) }
        == ["billing.tags[1].name must not be empty", "billing.tags[2] is no tag"])
  }

  @Test("a model may be validatable itself, and rules may be made of others")
  func ownViolations() async throws {
    let found = try await pair.sender.read { stateFile in
      try [Parcel(), Parcel(label: " ", weight: 3)].map { try stateFile.violations(of: $0).map(\.description) }
    }
    #expect(found == [[], ["label must not be empty", "weight must be even", "weight and label do not go together"]])
  }

  @Test("a rule that makes no sense in a nested value is a violation, so that it does not pass unseen")
  func malformedNestedRule() {
    #expect(GodwitError.Violation.check("text", "a", .matches("[a-")).map(\.field) == ["text"])
  }

  @Test("one error lists every violation, with fields and rules but no values")
  func error() async throws {
    let secret = "SECRET-SECRET-SECRET"
    let error = await #expect(throws: GodwitError.self) {
      try await pair.sender.write { transaction in
        try transaction.insert(Order(title: secret, contact: secret, state: secret, address: Address(code: secret)))
      }
    }
    let found = try #require(error)
    #expect(found.code == .validationFailed)
    #expect(found.violations.map(\.field) == ["title", "title", "contact", "state", "address.code"])
    for violation in found.violations {
      #expect(found.message.contains(violation.description) && "\(found)".contains(violation.description))
    }
    #expect(!"\(found)".contains("SECRET"))
    #expect(GodwitError(.notFound, "another").violations == [])
  }

  @Test("insert, update and save refuse and store nothing, and the transaction continues")
  func goesOn() async throws {
    let stored = Order(title: "stored")
    let bad = Order(id: stored.id, title: "")
    try await pair.sender.write { try $0.insert(stored) }
    let refused = try await pair.sender.write { transaction in
      let refused = [
        violations { try transaction.insert(Order(title: "")) }, violations { try transaction.update(bad) },
        violations { try transaction.save(bad) }, violations { try transaction.save(Order(title: "")) },
        violations { try transaction.save(bad, merging: [\.title]) },
      ]
      try transaction.insert(Order(title: "after"))
      return refused
    }
    #expect(refused.map { $0?.count } == [2, 2, 2, 2, 2])
    #expect(try await pair.sender.fetch(Order.order(by: \.title)).map(\.title) == ["after", "stored"])
    #expect(try await pair.sender.latestCounts() == ChangeCounts(1))
    try await pair.expectSame()
  }

  @Test("a run of inserts is judged row by row")
  func run() async throws {
    let refused = try await pair.sender.write { transaction in
      (0..<200).filter { number in violations { try transaction.insert(Order(start: number % 2)) } != nil }
    }
    #expect(refused == Array(stride(from: 1, to: 200, by: 2)))
    #expect(try await pair.sender.count(Order.all) == 100)
    try await pair.expectSame()
  }

  @Test("after a refused save another replica receives nothing")
  func nothingSent() async throws {
    #expect(await code { try await pair.sender.write { try $0.save(Order(title: "")) } } == .validationFailed)
    let refused = try await pair.sender.write { transaction in violations { try transaction.save(Order(title: "")) } }
    #expect(refused?.count == 2)
    #expect(try await pair.carry().applied.transactions == 0)
    #expect(try await pair.sender.history.log().isEmpty)
    #expect(try await pair.receiver.count(Order.all) == 0)
  }

  @Test("merged rows are judged as they will be, not as the partial model is")
  func merging() async throws {
    let stored = Order(title: "stored", start: 5, end: 6)
    try await pair.sender.write { try $0.insert(stored) }
    let refused = try await pair.sender.write { transaction in
      // As it stands this one breaks a rule, but not where it is asked for.
      try transaction.save(Order(id: stored.id, title: "", rating: 3), merging: [\.rating])
      return violations { try transaction.save(Order(id: stored.id, start: 7, end: 7), merging: [\.start]) }
    }
    #expect(refused == ["end must not be before start"])
    let now = try #require(try await pair.sender.fetch(Order.self, key: stored.id))
    #expect(now.rating == 3 && now.title == "stored" && now.start == 5)
  }

  // MARK: Uniqueness

  @Test("a unique value is refused to a second row, and the row that has it keeps it")
  func unique() async throws {
    let first = Seat(code: "A", guest: "ada", room: "hall", number: 1)
    let refused = try await pair.sender.write { transaction in
      try transaction.insert(first)
      let second = Seat(code: "A", guest: "ada", room: "hall", number: 1)
      let refused = [violations { try transaction.insert(second) }, violations { try transaction.save(second) }]
      try transaction.save(first)
      try transaction.update(Seat(id: first.id, code: "A", guest: "ada", room: "attic", number: 1))
      return refused
    }
    let taken = ["code is taken", "guest is taken", "number is taken"]
    #expect(refused == [taken, taken])
    #expect(try await pair.sender.fetch(Seat.all).map(\.room) == ["attic"])
  }

  @Test("an update to another row's unique value is refused")
  func uniqueUpdate() async throws {
    let refused = try await pair.sender.write { transaction in
      let second = try transaction.insert(Seat(code: "B", number: 2))
      try transaction.insert(Seat(code: "A", number: 1))
      return violations { try transaction.update(Seat(id: second.id, code: "A", number: 2)) }
    }
    #expect(refused == ["code is taken"])
  }

  @Test("nil never collides")
  func uniqueNil() async throws {
    try await pair.sender.write { try $0.insert([Seat(code: "A", number: 1), Seat(code: "B", number: 2)]) }
    #expect(try await pair.sender.count(Seat.all) == 2)
  }

  @Test("within a scope a value is taken only where the scope is the same, nil included")
  func scope() async throws {
    let refused = try await pair.sender.write { transaction in
      try transaction.insert([
        Seat(code: "A", room: "hall", number: 1), Seat(code: "B", room: "attic", number: 1), Seat(code: "C", number: 1),
      ])
      return [
        violations { try transaction.insert(Seat(code: "D", room: "hall", number: 1)) },
        violations { try transaction.insert(Seat(code: "E", number: 1)) },
      ]
    }
    #expect(refused == [["number is taken"], ["number is taken"]])
  }

  @Test("violations of a transaction see its own writes")
  func ownWrites() async throws {
    let found = try await pair.sender.write { transaction in
      let before = try transaction.violations(of: Seat(code: "A", number: 1))
      try transaction.insert(Seat(code: "A"))
      return [before, try transaction.violations(of: Seat(code: "A", number: 1))]
    }
    #expect(found == [[], [GodwitError.Violation(field: "code", "is taken")]])
  }

  @Test("a state file judges by the rows that it sees")
  func stateFile() async throws {
    try await pair.sender.write { try $0.insert(Seat(code: "A")) }
    let found = try await pair.sender.read { try $0.violations(of: Seat(code: "A", number: 1)) }
    #expect(found.map(\.field) == ["code"])
  }

  // MARK: Declarations

  @Test("a rule about what is no column, or that makes no sense, is refused when the replica opens")
  func declarations() async throws {
    let path = pair.folder.file("bad")
    #expect(await code { try await Replica.open(at: path, models: Unlisted.self) } == .notInSchema)
    #expect(await code { try await Replica.open(at: path, models: UniqueUnlisted.self) } == .notInSchema)
    #expect(await code { try await Replica.open(at: path, models: BadPattern.self) } == .invalidSchema)
  }
}
